import DoorModel
import LinuxIO
import Logging
import TestSupport
import Testing

@testable import Doors

/// In which order the relay reads feedback.
@Suite struct FeedbackWatchTests {
    private let place: TemporaryDirectory
    private let feedback: Directory

    init() throws {
        place = try TemporaryDirectory()
        let app = try place.directory.makeChild(Array("weather".utf8), mode: 0o755)
        _ = try app.makeChild(Array("work".utf8), mode: 0o700)
        feedback = try app.makeChild(Array("feedback".utf8), mode: 0o755)
    }

    private func publish(_ number: Int) throws {
        let line =
            #"{"v":1,"kind":"notification","app":"weather","token":"\#(token(number))","outcome":"rejected","#
            + #""status":410,"reason":"Unregistered","verdict":"gone","gone_since":"2026-11-20T07:00:00.000Z"}"# + "\n"
        try feedback.put("20261121T080000.\(100_000 + number)Z-host-a.jsonl", line)
    }

    private func token(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    private func watch() throws -> FeedbackWatch {
        try FeedbackWatch(
            spool: place.path, horizon: .seconds(1_000_000_000),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Hears once, and returns the bytes of the tokens.
    private func read(_ watch: FeedbackWatch) async -> (tokens: [[UInt8]], hasMore: Bool) {
        let (lines, hasMore) = await watch.read()
        let gone = lines.map(\.outcome).filter(\.isGone)
        return (gone.map(\.receiver), hasMore)
    }

    @Test func `a new file is read before those that there were at the start`() async throws {
        for number in 0..<300 { try publish(number) }
        let watch = try watch()
        let first = await read(watch)
        #expect(first.hasMore && first.tokens.count == 64)
        try publish(300)
        let second = await read(watch)
        #expect(second.tokens.count == 1 && second.hasMore, "\(second)")
        var all = first.tokens + second.tokens
        var hasMore = true
        while hasMore {
            let next = await read(watch)
            (all, hasMore) = (all + next.tokens, next.hasMore)
        }
        #expect(Set(all).count == 301)
        try publish(301)
        #expect(await read(watch).tokens.count == 1)
    }
}

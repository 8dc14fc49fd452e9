import TestSupport
import Testing

@testable import LinuxIO

struct ChannelTests {
    @Test func `each event ends one wait, although nobody reads`() async throws {
        try await onReactor { reactor in
            let pair = try SocketPair(on: reactor)
            let channel = pair.one.channel
            for byte in UInt8(0)..<3 {
                #expect(try pair.other.write([byte].span) == .bytes(1))
                #expect(await channel.waitForNews(until: .now + .seconds(60)) == .readable)
                #expect(await channel.waitForNews(until: .now + .milliseconds(5)) == .timedOut)
            }
            channel.waiter.wake()
            #expect(await channel.waitForNews() == .woken)
        }
    }
}

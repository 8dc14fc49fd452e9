import Document
import JSON
import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

@Suite struct ControlRequestTests {
    private static func requests() -> [ControlRequest] {
        var retry = ControlRequest(.retry, job: "weather/a \"b\".json")
        (retry.isDryRun, retry.isWhole, retry.includesUnknown) = (true, true, true)
        var stop = ControlRequest(.stop)
        (stop.drains, stop.timeout) = (true, 60)
        let ofJobs = [ControlRequest.Command.hold, .release, .cancel, .expire, .retry].map {
            ControlRequest($0, job: "a.json", app: "weather")
        }
        let ofApps = [ControlRequest(.pause, app: "weather"), ControlRequest(.pause), ControlRequest(.resume)]
        return ofJobs + ofApps + [retry, stop, ControlRequest(.stop)]
    }

    private func read(_ text: String) throws -> ControlRequest {
        var parser = JSON.Parser()
        return try ControlRequest(try parser.read(text).root)
    }

    @Test func `what is written is read again`() throws {
        for request in Self.requests() {
            #expect(request.line.last == UInt8(ascii: "\n"))
            #expect(try read(String(decoding: request.line.dropLast(), as: UTF8.self)) == request)
        }
    }

    @Test(arguments: [
        ("{}", "version"), (#"{"v":2,"do":"hold","job":"a"}"#, "version"), ("[]", "version"), ("7", "version"),
        (#"{"v":1,"job":"a"}"#, "must name a command"), (#"{"v":1,"do":"drop","job":"a"}"#, "must name a command"),
        (#"{"v":1,"do":"hold"}"#, "`job` is missing"), (#"{"v":1,"do":"stop","job":"a"}"#, "stop takes no job"),
        (#"{"v":1,"do":"pause","job":"a"}"#, "pause takes no job"),
        (#"{"v":1,"do":"hold","job":"a","dry_run":true}"#, "hold: unknown member `dry_run`"),
        (#"{"v":1,"do":"retry","job":"a","dry_run":1}"#, "retry: unknown member `dry_run`"),
        (#"{"v":1,"do":"hold","job":7}"#, "hold: unknown member `job`"),
        (#"{"v":1,"do":"stop","timeout_s":-1}"#, "stop: unknown member `timeout_s`"),
        (#"{"v":1,"do":"cancel","job":"a","later":true}"#, "cancel: unknown member `later`"),
    ])
    func `what is not known is refused, and not done by halves`(text: String, message: String) {
        let fault = #expect(throws: ControlFault.self) { _ = try read(text) }
        #expect(fault?.message.contains(message) == true, "\(fault?.message ?? "")")
    }

    @Test func `answers are read again`() throws {
        let name = try #require(FileName(bytes: [0xFF] + Array("%.json".utf8)))
        for kind in ControlAnswer.Kind.allCases {
            for hint in [nil, "look"] {
                let answer = ControlAnswer(kind, "so it is", hint: hint).about("weather", name, JobID(bits: 7))
                var parser = JSON.Parser()
                let tape = try parser.parse(Array(answer.line.dropLast()))
                #expect(ControlAnswer(tape.root) == answer)
            }
        }
        var parser = JSON.Parser()
        let tape = try parser.read(#"{"v":1,"result":"maybe","text":""}"#)
        #expect(ControlAnswer(tape.root) == nil)
    }

    @Test func `no bytes make a trap, and none make more than one line be kept`() throws {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var lines = ControlLines()
            for _ in 0..<40 {
                var piece = Self.requests().randomElement(using: &random)?.line ?? []
                for _ in 0..<Int.random(in: 0...3, using: &random) where !piece.isEmpty {
                    piece[Int.random(in: piece.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                lines.append(piece.prefix(Int.random(in: 0...piece.count, using: &random)))
                while let line = lines.next() {
                    #expect(!line.contains(UInt8(ascii: "\n")) && line.count <= ControlRequest.lineLimit, "\(seed)")
                    var parser = JSON.Parser()
                    guard let tape = try? parser.parse(line) else { continue }
                    // Whatever is taken for a request is one that can be written.
                    if let request = try? ControlRequest(tape.root) {
                        let tape = try parser.parse(Array(request.line.dropLast()))
                        #expect(try ControlRequest(tape.root) == request, "seed \(seed)")
                    }
                }
            }
        }
    }

    @Test(arguments: [0, 1, 16_384, 65_536, 65_537, 200_000])
    func `a line may have 64 KiB`(count: Int) {
        var lines = ControlLines()
        lines.append([UInt8](repeating: 0x20, count: count)[...])
        let none = lines.next()
        #expect(none == nil && lines.isTooLong == (count > 65_536))
        lines.append(Array("\nnext\n".utf8)[...])
        let line = lines.next()
        #expect(line?.count == (count > 65_536 ? nil : count))
        #expect(lines.isTooLong == (count > 65_536))
    }
}

import TestSupport
import Testing

@testable import GatewaySimulator

/// What a script's text means.
struct FaultScriptTests {
    @Test(
        arguments: [
            ("refuse", FaultAction.reply(.init(status: 8))),
            ("refuse status=255 delay=500ms", .reply(.init(status: 255, delay: .milliseconds(500)))),
            ("refuse identifier=zero", .reply(.init(status: 8, naming: .number(0)))),
            ("refuse identifier=last then=stay", .reply(.init(status: 8, naming: .lastAccepted, ending: .stay))),
            ("refuse identifier=0xffffffff", .reply(.init(status: 8, naming: .number(.max)))),
            ("half bytes=2", .reply(.init(status: 8, byteCount: 2))),
            ("junk command=7", .reply(.init(status: 8, command: 7))),
            ("shutdown delay=2m", .reply(.init(status: 10, naming: .lastAccepted, delay: .seconds(120)))),
            ("close", .end(.close, delay: .zero)),
            ("cut delay=1s", .end(.cut, delay: .seconds(1))),
            ("reset", .end(.reset, delay: .zero)),
            ("stall for=1h", .pause(.seconds(3600))),
            ("blackhole", .pause(nil)),
            ("slow rate=10", .slow(bytesPerSecond: 10)),
            ("refuse-connection", .refuseConnection),
            ("stop-listening for=3s", .stopListening(.seconds(3))),
            ("fail-handshake by=alert", .failHandshake(.alert)),
            ("close-after-handshake", .end(.close, delay: .zero)),
            ("no-tickets", .withholdTickets),
        ])
    func `every action has a word`(text: String, action: FaultAction) throws {
        #expect(try FaultScript(text).rules.map(\.action) == [action])
    }

    @Test func `conditions stand anywhere in the rule`() throws {
        let rule = try #require(
            FaultScript("every=3 token=0aB per=connection refuse after=2 times=4 connection=2- payload=\"a \\\" b\"")
                .rules.first)
        var expected = FaultRule.Trigger()
        expected.every = 3
        expected.tokenDigits = [0, 10, 11]
        expected.countsPerConnection = true
        expected.after = 2
        expected.times = 4
        expected.connections = 2...Int.max
        expected.payloadText = Array("a \" b".utf8)
        #expect(rule.trigger == expected)
    }

    @Test func `lines and semicolons part rules, comments and blank lines are nothing`() throws {
        let script = try FaultScript("# all\nnth=1 close;nth=2 reset # two\r\n\n ; \nnth=3 cut\n")
        #expect(script.rules.map(\.trigger.nth) == [1, 2, 3])
        #expect(try FaultScript(" # nothing").isEmpty)
    }

    @Test(
        arguments: [
            ("nth=3", 1, 1, "add an action"),
            ("nth=3 explode", 1, 7, "write one of refuse"),
            ("close\nnth=x reset", 2, 1, "nth=8"),
            ("nth=0 close", 1, 1, "nth=8"),
            ("close reset", 1, 7, "one rule for each action"),
            ("nth close", 1, 1, "without spaces"), ("nth 3 close", 1, 1, "without spaces"),
            ("refuse status=256", 1, 8, "status=8"),
            ("shutdown status=3", 1, 10, "identifier, delay, then"),
            ("refuse delay=5", 1, 8, "500ms"),
            ("refuse delay=99999999999999999999s", 1, 8, "500ms"),
            ("token=xy close", 1, 1, "token=740f47"),
            ("connection=4-2 close", 1, 1, "connection=2-4"),
            ("probability=2 close", 1, 1, "0.01"),
            ("payload=\"a close", 1, 9, "second \""),
            ("payload= close", 1, 1, "without spaces"),
            ("token=ab refuse-connection", 1, 10, "count connections"),
            ("refuse then=vanish", 1, 8, "close, cut, reset, stay"),
            ("fail-handshake by=magic", 1, 16, "close, alert, junk"),
            ("blackhole for=3s", 1, 11, "no options"),
            ("refuse colour=red", 1, 8, "status, identifier, delay, then"),
        ])
    func `a fault names its place and a remedy`(text: String, line: Int, column: Int, hint: String) {
        let fault = #expect(throws: FaultScript.Fault.self) { try FaultScript(text) }
        #expect(fault?.line == line)
        #expect(fault?.column == column)
        #expect(fault?.hint.contains(hint) == true, "\(fault?.hint ?? "")")
    }

    @Test func `no text traps`() {
        let words = [
            "nth=", "every=3", "close", "refuse", "\"", "=", ";", "#", "\\", "after=0", "times=9", "token=", "\n",
        ]
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let text = (0..<8).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
            do throws(FaultScript.Fault) {
                _ = try FaultScript(text)
            } catch {
                #expect(error.line >= 1 && error.column >= 1 && !error.hint.isEmpty, "seed \(seed): \(text)")
            }
        }
    }
}

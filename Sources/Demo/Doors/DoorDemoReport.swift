import APNSModel
import GatewaySimulator
import PushModel

/// The report of the demo of doors, as text for a terminal.
package struct DoorDemoReport {
    private let style = DemoStyle()
    /// The lines of the report, with a verdict at the end.
    package private(set) var lines: [String] = []
    /// What differs from the expectation.
    package private(set) var faults: [String] = []

    /// Writes the report.
    init(folder: DemoFolder, answers: [(client: DoorDemoClient, text: String)], ledger: Ledger) {
        title("Clients that know nothing of pushspool, and the answers that they got")
        for (client, text) in answers {
            line("\(client.name)  \(style.faint(client.about))")
            for answer in text.split(separator: "\n") { line("  \(answer.prefix(160))") }
            check(client, text)
        }
        title("Received by the gateway, through doors, spool and daemon")
        for entry in ledger.accepted {
            line("\(DeviceToken(bytes: entry.token)) \(entry.payloadText.prefix(60))")
        }
        check(ledger)
        title("Verdict")
        if faults.isEmpty {
            line(
                style.good("Passed") + ": every answer is as expected, and each of "
                    + "\(DoorDemoClient.good.count) good notifications was accepted exactly once.")
        }
        for fault in faults { line(style.bad("failed: ") + fault) }
        title("Explore (nothing is running any more; to clean up: rm -r \(folder.path))")
        line("cd \(folder.path)")
        line("cat etc/doors.yaml clients/*.sh clients/door.log")
        line("ls spool/weather/done/*")
        line("cat spool/*/feedback/*.jsonl")
    }

    /// Looks for the expected answers, each after the one before.
    private mutating func check(_ client: DoorDemoClient, _ text: String) {
        var rest = text[...]
        for answer in client.answers {
            guard let place = rest.firstRange(of: answer) else {
                faults.append("\(client.name) did not get \(answer)")
                return
            }
            rest = rest[place.upperBound...]
        }
    }

    private mutating func check(_ ledger: Ledger) {
        for token in DoorDemoClient.good {
            let count = ledger.accepted.filter { $0.token == token.bytes }.count
            if count != 1 { faults.append("token \(token.number) was accepted \(count) times") }
        }
        if ledger.acceptedCount != DoorDemoClient.good.count {
            faults.append("the gateway accepted \(ledger.acceptedCount) notifications")
        }
        faults += ledger.violations.map { "protocol violation: \($0)" }
    }

    private mutating func title(_ text: String) { lines.append("\n" + style.title(text)) }

    private mutating func line(_ text: String) { lines.append("  " + text) }
}

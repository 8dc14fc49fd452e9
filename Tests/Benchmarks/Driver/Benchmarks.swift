import Gateways
import Glibc
import LinuxIO
import Logging

/// Measures one transport of pushspool, or its journal, and prints JSON objects.
@main
enum Benchmarks {
    private static let usage = """
        usage: Benchmarks binary|http2|fcm HOST PORT CERT KEY CA COUNT [journal|each FOLDER]
           or: Benchmarks journal none|journal|each FOLDER COUNT
        """

    static func main() async {
        let words = CommandLine.arguments
        if words.count == 5, words[1] == "journal" { return measureJournal(words) }
        guard words.count == 8 || words.count == 10, let transport = Transport(rawValue: words[1]),
            let peer = HostPort("\(words[2]):\(words[3])"), let count = Int(words[7]), count > 0
        else { fail(usage) }
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        do {
            try TaskThread.start()
            let context = try transport.context(certificate: words[4], key: words[5], authority: words[6])
            let reactor = try Reactor(name: "reactor")
            let plan = recordingPlan(words)
            let gateway = try transport.makeGateway(
                to: peer, context, recordKeeping: plan == nil ? .none : .durable(group: OutcomeBook.group), on: reactor)
            let book = try plan.map { try OutcomeBook($0, for: gateway, count: count, on: reactor) }
            let run = GatewayRun(gateway, count, over: transport, on: reactor)
            let report = try await TaskThread.bypassed { try await run.measure(recordingIn: book) }
            say(report.json(of: transport), on: .output)
            reactor.stop()
        } catch {
            fail("error: \(error)")
        }
    }

    /// How a transport's outcomes are to be recorded, if they are.
    private static func recordingPlan(_ words: [String]) -> OutcomeBook.Plan? {
        guard words.count == 10 else { return nil }
        guard let mode = OutcomeBook.Mode(rawValue: words[8]) else { fail(usage) }
        return OutcomeBook.Plan(mode: mode, folder: words[9])
    }

    private static func measureJournal(_ words: [String]) {
        guard let mode = JournalRun.Mode(rawValue: words[2]), let count = Int(words[4]), count > 0 else { fail(usage) }
        do {
            say(try JournalRun(mode, count, in: words[3]).measure(), on: .output)
        } catch {
            fail("error: \(error)")
        }
    }

    private static func fail(_ message: String) -> Never {
        say(message, on: .error)
        exit(1)
    }

    private static func say(_ line: String, on stream: StandardStream) {
        stream.write(Array((line + "\n").utf8))
    }
}

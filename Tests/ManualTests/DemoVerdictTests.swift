import APNSBinary
import PushModel
import Testing

@testable import Demo
@testable import GatewaySimulator

/// What the demo says of outcomes that are not as they should be.
struct DemoVerdictTests {
    private static let good = DemoJob(
        name: "good.json", about: "", content: .text(""), end: .done, good: [DemoToken(1), DemoToken(2)],
        contents: [DemoToken(1): "Storm"])
    private static let half = DemoJob(
        name: "half.json", about: "", content: .text(""), end: .failed(code: "refused"), rejectedCount: 2)

    /// What happened, told by what differs from what should have.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var jobs = ["good.json": Self.job(accepted: 2), "half.json": Self.job("failed", "refused", rejected: 2)]
        var accepted = [(1, "Storm"), (2, "Storm")]
        var faults: [String] = []

        init(_ what: String, _ change: (inout Case) -> Void = { _ in }) {
            testDescription = what
            change(&self)
        }

        static func job(
            _ state: String = "done", _ code: String? = nil, accepted: Int = 0, rejected: Int = 0
        ) -> DemoOutcome.Job {
            DemoOutcome.Job(
                state: state, code: code, path: "", notificationCount: accepted + rejected, acceptedCount: accepted,
                rejectedCount: rejected)
        }
    }

    private static let cases = [
        Case("all as it should be"),
        Case("a job that did not end") {
            $0.jobs["half.json"] = nil
            $0.faults = ["half.json did not finish"]
        },
        Case("a job in the wrong place") {
            $0.jobs["half.json"] = Case.job(rejected: 2)
            $0.faults = ["half.json ended as done (expected failed(code: \"refused\"))"]
        },
        Case("a job with another code") {
            $0.jobs["half.json"] = Case.job("failed", "invalid", rejected: 2)
            $0.faults = ["half.json ended as failed(code: \"invalid\") (expected failed(code: \"refused\"))"]
        },
        Case("too few accepted") {
            $0.jobs["good.json"] = Case.job(accepted: 1)
            $0.faults = ["good.json: 1 accepted (expected 2)"]
        },
        Case("too few rejected") {
            $0.jobs["half.json"] = Case.job("failed", "refused", rejected: 1)
            $0.faults = ["half.json: 1 rejected (expected 2)"]
        },
        Case("a token that got nothing") {
            $0.accepted.removeLast()
            $0.faults = ["good.json: token 2 was accepted 0 times"]
        },
        Case("a token that got two") {
            $0.accepted.append((2, "Storm"))
            $0.faults = ["good.json: token 2 was accepted 2 times"]
        },
        Case("another payload") {
            $0.accepted[0].1 = "Sun"
            $0.faults = ["good.json: token 1 got the wrong payload"]
        },
        Case("a token of nobody") {
            $0.accepted.append((9, "Storm"))
            $0.faults = ["the gateway accepted 1 tokens that are in no job"]
        },
    ]

    @Test(arguments: cases)
    func `each difference is told, and nothing else`(example: Case) throws {
        let jobs = [Self.good, Self.half]
        let ledger = try Self.ledger(example.accepted)
        let outcome = DemoOutcome(wanted: jobs.map(\.name), jobs: example.jobs, ledger: ledger)
        #expect(DemoVerdict(jobs: jobs, outcome: outcome).faults == example.faults)
    }

    @Test func `what is against the protocol is told`() throws {
        var ledger = try Self.ledger([(1, "Storm"), (2, "Storm")])
        ledger.note(Ledger.Violation(connection: 1, stream: 3, message: "no path"))
        let jobs = [Self.good, Self.half]
        let outcome = DemoOutcome(wanted: jobs.map(\.name), jobs: Case("").jobs, ledger: ledger)
        #expect(
            DemoVerdict(jobs: jobs, outcome: outcome).faults == [
                "protocol violation: connection 1, stream 3: no path"
            ])
    }

    @Test func `access tokens that nobody asked for are told`() throws {
        let ledger = try Self.ledger([(1, "Storm"), (2, "Storm")])
        let jobs = [Self.good, Self.half]
        let outcome = DemoOutcome(wanted: jobs.map(\.name), jobs: Case("").jobs, ledger: ledger)
        let faults = DemoVerdict(jobs: jobs, outcome: outcome, accessTokenCount: 2).faults
        #expect(faults == ["0 access tokens (expected at least 2)"])
    }

    @Test func `without a ledger nothing is good`() {
        let outcome = DemoOutcome(wanted: [], jobs: Case("").jobs)
        #expect(DemoVerdict(jobs: [Self.good, Self.half], outcome: outcome).faults == ["the ledger is missing"])
    }

    /// A ledger of a gateway that accepted these.
    private static func ledger(_ accepted: [(Int, String)]) throws -> Ledger {
        var ledger = Ledger()
        for (number, text) in accepted {
            let (token, payload) = (DemoToken(number).bytes, Array(text.utf8))
            let bytes = [0, 0, UInt8(token.count)] + token + [0, UInt8(payload.count)] + payload
            let frame = try #require(try NotificationFrame(decoding: bytes.span))
            let arrival = Ledger.Arrival(
                connection: 1, sequence: 1, time: WallTime(epochSeconds: 0), outcome: .accepted)
            ledger.note(frame, of: bytes.span, as: arrival)
        }
        return ledger
    }
}

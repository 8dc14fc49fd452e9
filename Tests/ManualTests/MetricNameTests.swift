import APNSBinary
import DoorModel
import Foundation
import JournalModel
import SpoolModel
import Testing

/// The metrics: program, manual, alerts and dashboard know the same.
struct MetricNameTests {
    private static let daemon = Set(Metric.allCases.map(\.family.name))
    private static let known = daemon.union(DoorMetric.allCases.map(\.family.name))

    /// The names of metrics in a text, without what Prometheus adds to those of histograms.
    private static func names(in text: String) -> Set<String> {
        Set(
            text.matches(of: #/pushspool_[a-z_]+/#).map { match in
                let name = String(match.output)
                guard !known.contains(name) else { return name }
                let ending = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) } ?? ""
                return String(name.dropLast(ending.count))
            })
    }

    @Test func `pushspool-metrics(5) has every metric with its kind, and no other`() throws {
        let page = try Manual.page("pushspool-metrics.5")
        var told: [String: String] = [:]
        for entry in page.components(separatedBy: ".TP\n").dropFirst() {
            guard let head = entry.firstMatch(of: #/^\\fB(pushspool_[a-z_]+)\\fR .(\w+)/#) else { continue }
            told[String(head.output.1)] = String(head.output.2)
        }
        let known = Dictionary(uniqueKeysWithValues: Metric.allCases.map { ($0.family.name, $0.family.kind.rawValue) })
        #expect(told == known)
    }

    @Test(arguments: ["pushspool.rules.yml", "pushspool.rules.test.yml", "pushspool.dashboard.json"])
    func `alerts and dashboard ask for metrics that there are`(file: String) throws {
        let names = Self.names(in: try Manual.text("etc/monitoring/" + file))
        #expect(names.subtracting(Self.known) == [])
        #expect(names.count > 15)
    }

    @Test func `the dashboard shows every metric`() throws {
        let text = try Manual.text("etc/monitoring/pushspool.dashboard.json")
        #expect(Self.daemon.subtracting(Self.names(in: text)) == [])
    }

    @Test func `every alert has a unit test`() throws {
        let rules = try Manual.text("etc/monitoring/pushspool.rules.yml")
        let tests = try Manual.text("etc/monitoring/pushspool.rules.test.yml")
        let alerts = Set(rules.matches(of: #/- alert: (\w+)/#).map { String($0.output.1) })
        #expect(alerts.count > 20)
        for alert in alerts {
            #expect(tests.components(separatedBy: "alertname: \(alert)\n        exp_alerts:").count > 1, "\(alert)")
        }
    }

    @Test func `the manual lists every state, folder and cause that labels can have`() throws {
        let page = try Manual.page("pushspool-metrics.5")
        let words =
            SpoolStatus.AppState.allCases.map(\.rawValue) + RecoveryPlan.HoldReason.allCases.map(\.rawValue)
            + [
                "new", "work", "hold", "done", "failed", "accepted", "rejected", "expired", "unsent", "unknown",
                "other",
            ]
        for word in words { #expect(page.contains("\\fB\(word)\\fR"), "\(word)") }
    }

    @Test func `every reason of the binary protocol counts by its name`() {
        let reasons = (UInt8.min...UInt8.max).map { APNSBinary.Status(rawValue: $0).reason }
            .filter { !$0.hasPrefix("Status") }
        #expect(reasons.count == 12)
        #expect(reasons.filter { KnownReason.name(of: $0) == KnownReason.other } == [])
    }
}

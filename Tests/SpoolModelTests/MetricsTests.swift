import JobFormat
import PushModel
import TestSupport
import Testing

@testable import JournalModel
@testable import SpoolModel

/// The text that monitoring reads.
struct MetricsTests {
    private static let time = WallTime(nanoseconds: 1_795_310_400_250_000_000)

    /// Metrics of one app of which everything has been counted, and one that never ran.
    private static var metrics: SpoolMetrics {
        var status = SpoolStatus(node: "host-a", processID: 1, startedAt: time, writtenAt: time + .seconds(30))
        status.cluster = .init(nodes: ["host-a", "host-b", "host-c"], standsInFor: ["host-c"], mayAct: true)
        status.left = [.init(node: "host-d", jobCount: 2, .noJournal), .init(node: "host-c", jobCount: 4, nil)]
        status.apps = [.init(name: "broken", state: .broken), .init(name: "weather", state: .sending)]
        var metrics = SpoolMetrics(status: status, version: "1.2")
        (metrics.freeByteCount, metrics.byteCount, metrics.journalByteCount) = (1 << 30, 1 << 31, 4096)
        metrics.syncTimes.add(nanoseconds: 700_000)
        var app = SpoolMetrics.App()
        app.counts = counts
        (app.credentialExpiry, app.connectionCount, app.inFlightCount) = (time, 2, 7)
        app.quotaHoldEnd = time
        app.answerTimes.add(3, nanoseconds: 20_000_000)
        metrics.apps = ["weather": app, "broken": SpoolMetrics.App()]
        return metrics
    }

    private static var counts: AppMetrics {
        var counts = AppMetrics()
        counts.note(.accepted, count: 5, at: time)
        counts.note(.rejected(Refusal(status: 410, reason: "Unregistered", verdict: .gone)), count: 2, at: time)
        counts.note(.rejected(Refusal(status: 400, reason: "NobodyKnows\"\n", verdict: .message)), count: 1, at: time)
        counts.note(.unsent(Refusal(status: nil, reason: "GivenUp", verdict: .later)), count: 1, at: time)
        counts.noteRevoked(1)
        counts.noteConnection()
        counts.noteEndOfConnection(isRoutine: false, resent: 4, doubtful: 3)
        counts.noteEndOfConnection(isRoutine: true, resent: 1, doubtful: 0)
        counts.noteClaim(after: .milliseconds(40))
        var tally = Tally()
        tally.add(.accepted, count: 1)
        counts.noteEnd(Conclusion(tally: tally, fault: nil), after: .seconds(2))
        counts.noteEnd(Conclusion(tally: Tally(), fault: .poison), after: nil)
        counts.noteHold(.changed)
        counts.noteOverwritten()
        counts.freeByteCount = 9
        (counts.queue.waitingCount, counts.queue.activeCount, counts.queue.heldCount) = (3, 2, 1)
        (counts.queue.oldestWaiting, counts.queue.oldestActive) = (time, time)
        (counts.queue.feedbackCount, counts.queue.oldestFeedback, counts.queue.hookFailingSince) = (12, time, time)
        counts.noteHook(.failed)
        counts.noteHook(.taken, count: 0)
        return counts
    }

    private static var lines: [String] {
        String(decoding: metrics.text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        #"pushspool_build_info{node="host-a",version="1.2"} 1"#,
        #"pushspool_start_timestamp_seconds{node="host-a"} 1795310400.25"#,
        #"pushspool_written_timestamp_seconds{node="host-a"} 1795310430.25"#,
        #"pushspool_stopping{node="host-a"} 0"#,
        #"pushspool_spool_free_bytes{node="host-a"} 1073741824"#,
        #"pushspool_journal_sync_duration_seconds_bucket{node="host-a",le="0.0005"} 0"#,
        #"pushspool_journal_sync_duration_seconds_bucket{node="host-a",le="0.001"} 1"#,
        #"pushspool_journal_sync_duration_seconds_bucket{node="host-a",le="5"} 1"#,
        #"pushspool_journal_sync_duration_seconds_bucket{node="host-a",le="+Inf"} 1"#,
        #"pushspool_journal_sync_duration_seconds_count{node="host-a"} 1"#,
        #"pushspool_left_jobs{node="host-a",left_by="host-d"} 2"#,
        #"pushspool_cluster_nodes{node="host-a"} 3"#,
        #"pushspool_cluster_stand_ins{node="host-a"} 1"#,
        #"pushspool_cluster_lease_valid{node="host-a"} 1"#,
        #"pushspool_app_state{node="host-a",app="broken",state="broken"} 1"#,
        #"pushspool_app_state{node="host-a",app="weather",state="broken"} 0"#,
        #"pushspool_app_state{node="host-a",app="weather",state="sending"} 1"#,
        #"pushspool_quota_hold_end_timestamp_seconds{node="host-a",app="weather"} 1795310400.25"#,
        #"pushspool_credential_expiry_timestamp_seconds{node="host-a",app="weather",kind="certificate"} 1795310400.25"#,
        #"pushspool_queue_jobs{node="host-a",app="weather",folder="hold"} 1"#,
        #"pushspool_queue_oldest_timestamp_seconds{node="host-a",app="weather",folder="new"} 1795310400.25"#,
        #"pushspool_jobs_finished_total{node="host-a",app="weather",state="done"} 1"#,
        #"pushspool_jobs_finished_total{node="host-a",app="weather",state="failed"} 1"#,
        #"pushspool_job_failures_total{node="host-a",app="weather",code="poison"} 1"#,
        #"pushspool_jobs_held_total{node="host-a",app="weather",cause="changed"} 1"#,
        #"pushspool_jobs_held_total{node="host-a",app="weather",cause="damaged_journal"} 0"#,
        #"pushspool_feedback_files{node="host-a",app="weather"} 12"#,
        #"pushspool_feedback_oldest_timestamp_seconds{node="host-a",app="weather"} 1795310400.25"#,
        #"pushspool_hook_runs_total{node="host-a",app="weather",result="failed"} 1"#,
        #"pushspool_hook_runs_total{node="host-a",app="weather",result="refused"} 0"#,
        #"pushspool_hook_failing_timestamp_seconds{node="host-a",app="weather"} 1795310400.25"#,
        #"pushspool_job_wait_duration_seconds_bucket{node="host-a",app="weather",le="0.05"} 1"#,
        #"pushspool_job_send_duration_seconds_sum{node="host-a",app="weather"} 2"#,
        #"pushspool_notifications_total{node="host-a",app="weather",outcome="accepted"} 5"#,
        #"pushspool_notifications_total{node="host-a",app="weather",outcome="rejected"} 3"#,
        #"pushspool_notifications_total{node="host-a",app="weather",outcome="expired"} 0"#,
        #"pushspool_last_accepted_timestamp_seconds{node="host-a",app="weather"} 1795310400.25"#,
        #"pushspool_notification_failures_total{node="host-a",app="weather",outcome="rejected",reason="other"} 1"#,
        #"pushspool_notification_failures_total{node="host-a",app="weather",outcome="unsent",reason="GivenUp"} 1"#,
        #"pushspool_notifications_resent_total{node="host-a",app="weather"} 5"#,
        #"pushspool_notifications_in_flight{node="host-a",app="weather"} 7"#,
        #"pushspool_answer_duration_seconds_bucket{node="host-a",app="weather",le="0.025"} 3"#,
        #"pushspool_connection_failures_total{node="host-a",app="weather"} 1"#,
    ])
    func `each number has its line`(line: String) {
        #expect(Self.lines.contains(line))
    }

    @Test func `every metric is written, once, under its heading, and no other`() {
        var families: [String] = []
        for (index, line) in Self.lines.enumerated() {
            if let name = line.firstMatch(of: #/^# HELP (\w+) \S/#)?.1 {
                families.append(String(name))
                #expect(Self.lines[index + 1].hasPrefix("# TYPE \(name) "))
            } else if !line.hasPrefix("#") {
                let name = line.prefix { $0 != "{" }
                let suffixes = ["", "_bucket", "_sum", "_count"]
                #expect(suffixes.contains { name == "\(families.last ?? "")\($0)" }, "\(line)")
            }
        }
        #expect(families.sorted() == Metric.allCases.map(\.family.name).sorted())
    }

    @Test(arguments: Metric.allCases)
    func `names, kinds and helps are as Prometheus likes them`(metric: Metric) {
        let family = metric.family
        #expect(family.name.wholeMatch(of: #/pushspool(_[a-z]+)+/#) != nil)
        #expect(family.help.hasSuffix(".") && !family.help.contains { "\\\n\"".contains($0) })
        #expect((family.kind == .counter) == family.name.hasSuffix("_total"))
    }

    @Test func `what was never counted leaves no trace`() {
        let status = SpoolStatus(node: "n", processID: 1, startedAt: Self.time, writtenAt: Self.time)
        let text = String(decoding: SpoolMetrics(status: status, version: "1").text, as: UTF8.self)
        #expect(!text.contains("_duration_seconds") && !text.contains("pushspool_app") && !text.contains("bytes{"))
        #expect(text.contains("pushspool_stopping") && text.hasSuffix("\n"))
    }

    @Test(arguments: [
        (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#), ("ä \u{1F600}", "ä \u{1F600}"), ("", ""),
    ])
    func `a label may hold any text`(value: String, written: String) {
        var writer = MetricsWriter(common: ("node", "n"))
        writer.begin(.stopping)
        writer.add(1, ("app", value))
        let line = String(decoding: writer.bytes, as: UTF8.self).split(separator: "\n").last
        #expect(line == #"pushspool_stopping{node="n",app="\#(written)"} 1"#[...])
    }

    @Test(arguments: [(0.0, "0"), (1.0, "1"), (-2.0, "-2"), (0.0005, "0.0005"), (1_795_310_400.25, "1795310400.25")])
    func `numbers are written as short as they can be read`(number: Double, text: String) {
        #expect(MetricsWriter.text(number) == text)
        #expect(Double(text) == number)
    }

    @Test(arguments: ["GivenUp", "JobUnreadable", "NoAnswer", "RefusedStream", "Suppressed", "Unregistered"])
    func `our own reasons count by their names, as Apple's do`(reason: String) {
        #expect(KnownReason.name(of: reason) == reason)
    }

    @Test func `a gateway that says anything decides no number of lines`() {
        var counts = AppMetrics()
        for number in 0..<1_000 {
            let refusal = Refusal(status: 400, reason: "R\(number)", verdict: .message)
            counts.note(.rejected(refusal), count: 1, at: Self.time)
        }
        #expect(counts.failures.count == 1 && counts.failures.first?.key.reason == KnownReason.other)
        #expect(counts.failures.first?.value == 1_000)
    }
}

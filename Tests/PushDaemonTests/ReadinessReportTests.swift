import PushDaemon
import ServiceProcess
import SpoolModel
import Testing

@testable import PushModel

/// What a daemon answers to a probe of readiness.
struct ReadinessReportTests {
    private static func status(_ states: [SpoolStatus.AppState]) -> SpoolStatus {
        var status = SpoolStatus(
            node: "host-a", processID: 7, startedAt: WallTime(epochSeconds: 1), writtenAt: WallTime(epochSeconds: 2))
        status.apps = states.enumerated().map { SpoolStatus.App(name: "app\($0.offset)", state: $0.element) }
        return status
    }

    private static func text(_ report: ReadinessReport) -> String {
        String(decoding: report.content.bytes, as: UTF8.self)
    }

    @Test(arguments: SpoolStatus.AppState.allCases)
    func `an app that does not run, or has no space, makes the daemon unready`(state: SpoolStatus.AppState) {
        let report = ReadinessReport(of: Self.status([.idle, state]), spoolFault: nil)
        let isBad = [.starting, .broken, .stuck, .full].contains(state)
        #expect(report.isReady != isBad && report.content.isGood != isBad)
        #expect(Self.text(report).contains("app1") == isBad)
    }

    @Test func `the page has a line for each check, faults included`() {
        let good = ReadinessReport(of: Self.status([]), spoolFault: nil)
        #expect(Self.text(good) == "ready\nspool: ok\nspace: ok\napps: ok\n")
        var status = Self.status([.broken, .full])
        status.isStopping = true
        status.cluster = SpoolStatus.Cluster(nodes: ["host-a"], standsInFor: [], mayAct: false)
        let text = """
            not ready
            spool: write x: No space left on device (ENOSPC)
            space: too little for app1
            apps: app0 is broken
            lease: not valid
            daemon: stopping

            """
        let bad = ReadinessReport(of: status, spoolFault: "write x: No space left on device (ENOSPC)")
        #expect(Self.text(bad) == text && !bad.isReady)
    }
}

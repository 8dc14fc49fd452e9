import PushModel
import SpoolModel
import Testing

@testable import SpoolInspection

@Suite struct JobAwaitingTests {
    private static let start = WallTime(epochSeconds: 1_000_000)

    /// A status of a daemon that has run for a minute, written so many seconds after the job was first missing.
    private static func status(
        _ seconds: Int64, jobs: Int = 0, _ state: SpoolStatus.AppState = .idle, started: Int64 = -60
    ) -> SpoolStatus {
        var status = SpoolStatus(
            node: "a", processID: 1, startedAt: start + .seconds(started), writtenAt: start + .seconds(seconds))
        status.apps = [SpoolStatus.App(name: "weather", state: state)]
        status.apps[0].jobCount = jobs
        return status
    }

    private static func isCertain(_ daemons: [SpoolStatus], of app: String = "weather") -> Bool {
        var absence = JobAbsence()
        guard !absence.isCertain([], app: app, at: start) else { return true }
        return absence.isCertain(daemons, app: app, at: start + .seconds(60))
    }

    @Test func `a job that no daemon has, in a status written later, is nowhere`() {
        for state in [SpoolStatus.AppState.idle, .paused, .stopped] { #expect(Self.isCertain([Self.status(3, state)])) }
        #expect(Self.isCertain([Self.status(3), Self.status(9)]))
    }

    @Test(arguments: [
        [], [status(2)], [status(9, jobs: 1)], [status(9, .starting)], [status(9, .stuck)],
        [status(9, started: 5)], [status(9), status(1)], [status(9), status(9, jobs: 1)],
    ])
    func `a job that some daemon may have may be sent`(daemons: [SpoolStatus]) {
        #expect(!Self.isCertain(daemons))
    }

    @Test func `nothing is known of an app that no daemon has`() {
        #expect(!Self.isCertain([Self.status(9)], of: "other"))
    }

    @Test func `a job of a node that does not run may be sent`() {
        var status = Self.status(9)
        status.left = [SpoolStatus.LeftNode(node: "b", jobCount: 1, nil)]
        #expect(!Self.isCertain([status]))
    }

    @Test func `an app that no daemon can send for is an obstacle, with the reason`() {
        var stopped = SpoolStatus.App(name: "weather", state: .stopped)
        stopped.reason = "is stopped: 403 InvalidProviderToken"
        #expect([stopped].obstacle == "weather is stopped: 403 InvalidProviderToken")
        #expect([stopped, SpoolStatus.App(name: "weather", state: .sending)].obstacle == nil)
        #expect([SpoolStatus.App(name: "weather", state: .unconfigured)].obstacle == "weather is unconfigured")
        #expect([SpoolStatus.App]().obstacle == nil)
    }
}

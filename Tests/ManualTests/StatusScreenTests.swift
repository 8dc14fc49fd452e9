import PushModel
import SpoolModel
import Testing

@testable import SpoolInspection

struct StatusScreenTests {
    private static let now = WallTime(epochSeconds: 1_795_310_400)

    private static func app(_ name: String, _ state: SpoolStatus.AppState, jobs: Int = 0) -> SpoolStatus.App {
        var app = SpoolStatus.App(name: name, state: state)
        (app.jobCount, app.gateway) = (jobs, "localhost:1")
        return app
    }

    private static func screen(
        _ apps: [SpoolStatus.App], _ waiting: [String: StatusScreen.Waiting] = [:], fault: String? = nil
    ) -> StatusScreen {
        var status = SpoolStatus(
            node: "host-a", processID: 7, startedAt: now + .seconds(-7200), writtenAt: now + .seconds(-1))
        status.apps = apps
        return StatusScreen(status: status, fault: fault, waiting: waiting, now: now)
    }

    @Test func `apps in trouble come first, then those with something to do`() {
        var far = Self.app("far", .stuck)
        far.since = Self.now + .seconds(-41)
        var busy = Self.app("weather", .sending, jobs: 2)
        var job = SpoolStatus.Job(name: "a.json", id: JobID(bits: 1), count: 100, settledCount: 25)
        job.rate = 30
        busy.progress = [job]
        let waiting = StatusScreen.Waiting(count: 3, oldest: Self.now + .seconds(-600))
        let lines = Self.screen([Self.app("idle", .sending), far, busy], ["weather": waiting, "new": .init()])
            .lines(columns: 200, rows: 50)
        #expect(
            lines == [
                "node host-a, process 7, running for 2 h, updated 1 s ago",
                "4 apps, 1 not sending; 2 jobs active, 3 waiting; 30/s", "",
                "app      state           jobs  waiting  oldest  rate  gateway",
                "far      stuck for 41 s     0                         localhost:1",
                "weather  sending            2        3  10 min  30/s  localhost:1",
                "idle     sending            0                         localhost:1",
                "new                                  0", "",
                "[######------------------]  25 %  25 of 100  30/s  weather/a.json",
            ])
    }

    @Test(arguments: [(80, 24), (40, 10), (20, 6), (3, 3), (1, 1)])
    func `the screen fits the terminal`(columns: Int, rows: Int) {
        let apps = (0..<100).map { Self.app("app-\($0)", .sending, jobs: 1) }
        let screen = Self.screen(apps, fault: "the daemon has not updated its status for 3 min")
        let lines = screen.lines(columns: columns, rows: rows)
        #expect(lines.count <= rows && lines.allSatisfy { $0.count <= columns })
    }

    @Test(arguments: [
        (80, "[######------------------]  25 %  25 of 100  30/s  weather/a.json"),
        (40, "25 %  25 of 100  30/s  weather/a.json"), (24, "25 %  weather/a.json"), (10, "25 %  weat"),
    ])
    func `a narrow screen still names the jobs`(columns: Int, line: String) {
        var app = Self.app("weather", .sending, jobs: 1)
        var job = SpoolStatus.Job(name: "a.json", id: JobID(bits: 1), count: 100, settledCount: 25)
        job.rate = 30
        app.progress = [job]
        #expect(Self.screen([app]).lines(columns: columns, rows: 24).last == line)
    }

    @Test func `one of a thing is called one`() {
        let waiting = StatusScreen.Waiting(count: 1, oldest: Self.now)
        let lines = Self.screen([Self.app("weather", .sending, jobs: 1)], ["weather": waiting])
            .lines(columns: 80, rows: 24)
        #expect(lines[1] == "1 app; 1 job active, 1 waiting; 0/s")
    }

    @Test func `what does not fit is counted`() {
        let lines = Self.screen((10..<30).map { Self.app("app-\($0)", .sending) }).lines(columns: 80, rows: 12)
        #expect(lines.count == 12 && lines[10].hasPrefix("app-16") && lines[11] == "… and 13 more apps")
    }

    /// An app whose certificate is good for so many days and an hour.
    private static func app(_ name: String, certifiedFor days: Int) -> SpoolStatus.App {
        var credentials = SpoolStatus.Credentials(kind: .certificate)
        credentials.notAfter = now + .seconds(days * 86_400 + 3600)
        var app = Self.app(name, .sending)
        app.credentials = credentials
        return app
    }

    @Test func `certificates that expire within 30 days have a line each, the first to end first`() {
        let days = ["far": 40, "later": 29, "over": -3, "soon": 1, "today": 0]
        let apps = days.sorted { $0.key < $1.key }.map { Self.app($0.key, certifiedFor: $0.value) }
        let lines = Self.screen(apps).lines(columns: 200, rows: 50)
        #expect(
            Array(lines[2...6]) == [
                "! over: certificate expired on 2026-11-19",
                "! today: certificate expires at 2026-11-22T02:20:00.000Z, in less than 2 h",
                "! soon: certificate expires on 2026-11-23, in 1 day",
                "! later: certificate expires on 2026-12-21, in 29 days", "",
            ])
        let few = Self.screen(apps).lines(columns: 200, rows: 12)
        let more = ["! over: certificate expired on 2026-11-19", "! … and 3 more certificates to renew", ""]
        #expect(Array(few[2...4]) == more && few.count <= 12)
    }

    @Test func `why apps wait is told, and how many more do where there is no room`() {
        let apps = (1...4).map { number in
            var app = Self.app("app-\(number)", number == 1 ? .starting : .sending)
            app.reason = number == 4 ? nil : "waits for room in the journal"
            return app
        }
        let lines = Self.screen(apps).lines(columns: 80, rows: 24)
        #expect(
            Array(lines[2...5]) == [
                "! app-1 cannot start: waits for room in the journal", "! app-2 waits for room in the journal",
                "! app-3 waits for room in the journal", "",
            ])
        let few = Self.screen(apps).lines(columns: 80, rows: 12)
        #expect(few[2].hasPrefix("! app-1 ") && few[3] == "! … and 2 more waiting apps" && few.count <= 12)
    }

    @Test func `without a daemon what waits is shown, and why there is no more`() {
        let screen = StatusScreen(
            status: nil, fault: "no daemon is running", waiting: ["weather": .init(count: 1, oldest: Self.now)],
            now: Self.now)
        let lines = screen.lines(columns: 80, rows: 24)
        #expect(lines.contains("! no daemon is running") && lines.contains { $0.hasPrefix("weather ") })
    }
}

import Document
import JSON
import PushModel
import SpoolModel
import Testing

@Suite struct SpoolStatusTests {
    private typealias Job = SpoolStatus.Job

    private static var credentials: [SpoolStatus.AppState: SpoolStatus.Credentials] {
        var certificate = SpoolStatus.Credentials(kind: .certificate)
        certificate.topics = ["com.example.weather", "com.example.weather.voip"]
        (certificate.notAfter, certificate.daysLeft) = (WallTime(epochSeconds: 1_795_500_000), 2)
        var expired = SpoolStatus.Credentials(kind: .pkcs12)
        (expired.notAfter, expired.daysLeft) = (WallTime(epochSeconds: 1_795_000_000), -4)
        return [.sending: certificate, .stopped: expired, .full: SpoolStatus.Credentials(kind: .token)]
    }

    private static var status: SpoolStatus {
        let time = WallTime(epochSeconds: 1_795_310_400)
        var status = SpoolStatus(node: "host-a", processID: 4711, startedAt: time, writtenAt: time + .seconds(30))
        for (index, state) in SpoolStatus.AppState.allCases.enumerated() {
            var app = SpoolStatus.App(name: "app\(index)", state: state)
            app.jobCount = index
            if state == .stuck { app.since = time }
            if state == .unreachable { (app.until, app.answeredAt) = (time, time + .seconds(1)) }
            if state == .paused { app.ignoredCount = 2 }
            if state != .unconfigured { app.gateway = "localhost:\(index)" }
            app.credentials = credentials[state]
            if state == .idle {
                app.hookTrouble = .init(since: time, failureCount: 3, error: "exited with status 1")
                app.unreadFeedback = .init(count: 12, oldest: time)
            }
            if state == .sending {
                var known = Job(name: "a.json", id: JobID(bits: 1), count: 3, settledCount: 2)
                (known.rate, known.remaining) = (1, .seconds(1))
                var refused = Job(name: "b.json", id: JobID(bits: 2), count: 9, settledCount: 0)
                refused.reason = "refused"
                app.progress = [known, refused]
            }
            status.apps.append(app)
        }
        return status
    }

    @Test(arguments: [false, true])
    func `what is written is read again`(isStopping: Bool) throws {
        var status = Self.status
        status.isStopping = isStopping
        if isStopping { status.cluster = .init(nodes: ["a", "b"], standsInFor: ["c"], mayAct: false) }
        var parser = JSON.Parser()
        #expect(SpoolStatus(try parser.parse(status.json).root) == status)
    }

    @Test func `it is one line of JSON with the members of the manual`() {
        var status = Self.status
        status.apps = status.apps.filter { $0.state == .stuck }
        let text =
            #"{"v":1,"node":"host-a","pid":4711,"state":"running","started_at":"2026-11-22T01:20:00.000Z","#
            + #""written_at":"2026-11-22T01:20:30.000Z","apps":[{"app":"app9","state":"stuck","jobs":9,"#
            + #""gateway":"localhost:9","since":"2026-11-22T01:20:00.000Z"}]}"# + "\n"
        #expect(String(decoding: status.json, as: UTF8.self) == text)
    }

    @Test func `a hook that fails and feedback that waits have members of their own`() {
        var status = Self.status
        status.apps = status.apps.filter { $0.state == .idle }
        let text =
            #""hook":{"since":"2026-11-22T01:20:00.000Z","failures":3,"error":"exited with status 1"},"#
            + #""feedback":{"files":12,"oldest":"2026-11-22T01:20:00.000Z"}}]}"#
        #expect(String(decoding: status.json, as: UTF8.self).contains(text))
    }

    @Test func `a job that takes long says how far it is`() {
        var status = Self.status
        status.apps = status.apps.filter { $0.state == .sending }
        let (one, two) = (JobID(bits: 1), JobID(bits: 2))
        let text =
            #""progress":[{"job":"a.json","id":"\#(one)","count":3,"settled":2,"rate":1,"remaining_s":1},"#
            + #"{"job":"b.json","id":"\#(two)","count":9,"settled":0,"reason":"refused"}]}]}"#
        #expect(String(decoding: status.json, as: UTF8.self).contains(text))
    }

    @Test func `credentials are told without secrets, and those of another version are left out`() throws {
        var status = Self.status
        status.apps = status.apps.filter { [.sending, .full].contains($0.state) }
        status.apps[0].progress = []
        let text = String(decoding: status.json, as: UTF8.self)
        let certificate =
            #""credentials":{"kind":"certificate","topics":["com.example.weather","com.example.weather.voip"],"#
            + #""not_after":"2026-11-24T06:00:00.000Z","days_left":2}"#
        #expect(text.contains(certificate) && text.contains(#""credentials":{"kind":"token"}}"#), "\(text)")
        var parser = JSON.Parser()
        let other = Array(text.replacing(#""kind":"token""#, with: #""kind":"passkey""#).utf8)
        let root = try parser.parse(other).root
        let read = try #require(SpoolStatus(root))
        #expect(read.apps.map { $0.credentials?.kind } == [.certificate, nil])
    }

    @Test(arguments: ["{}", #"{"v":2}"#, "[]", "7"])
    func `something else is not taken for a status`(text: String) throws {
        var parser = JSON.Parser()
        #expect(SpoolStatus(try parser.parse(Array(text.utf8)).root) == nil)
    }

    @Test func `an app in a state that is not known is not left out in silence`() throws {
        var parser = JSON.Parser()
        let text = String(decoding: Self.status.json, as: UTF8.self).replacing("\"asking\"", with: "\"thinking\"")
        #expect(SpoolStatus(try parser.parse(Array(text.utf8)).root) == nil)
    }
}

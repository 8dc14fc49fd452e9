import Configuration
import LinuxIO
import Logging
import PushModel
import TestSupport
import Testing

@testable import Doors

/// How often the doors log what fails for each request.
@Suite struct TroublesTests {
    private let log = RecordedLog()

    private func troubles() -> Troubles { Troubles(("jobs are refused", "jobs are accepted again"), log.logger) }

    private func moment(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    private func full(_ number: Int, at operation: String = "write") -> SystemError {
        .outOfSpace(operation, "/spool/weather/tmp/relay-\(number).jsonl")
    }

    @Test func `a cause is logged once, whatever the file is called`() {
        var troubles = troubles()
        for number in 0..<100 { troubles.note(full(number), about: "weather", at: moment(number)) }
        #expect(log.lines.count == 1, "\(log.lines)")
        troubles.note(full(0), about: "traffic", at: moment(100))
        #expect(log.lines.count == 2)
    }

    @Test func `causes that alternate are logged once each`() {
        var troubles = troubles()
        for number in 0..<100 {
            troubles.note(full(number, at: number % 2 == 0 ? "write" : "openat"), about: "weather", at: moment(number))
        }
        #expect(log.lines.count == 2, "\(log.lines)")
    }

    @Test func `what works again is logged, and a cause that comes and goes once a minute`() {
        var troubles = troubles()
        for second in 0..<120 {
            troubles.note(second % 2 == 0 ? full(second) : nil, about: "weather", at: moment(second))
        }
        #expect(log.lines.map { $0.hasPrefix("notice jobs are accepted again") } == [false, true, false, true])
        troubles.note(nil, about: "weather", at: moment(121))
        #expect(log.lines.count == 4)
    }

    @Test func `a remedy is logged with the cause`() {
        var troubles = Troubles(("apps are unknown", "apps are known again"), hint: "start the daemon", log.logger)
        troubles.note(full(0))
        #expect(log.lines.count == 1 && log.lines[0].contains("start the daemon"), "\(log.lines)")
    }

    @Test func `a spool without a list of apps is logged once for all requests`() async throws {
        let place = try TemporaryDirectory()
        var configuration = DoorConfiguration()
        configuration.spool = place.path
        let desk = try JobIntake(configuration, log.logger)
        for _ in 0..<20 {
            await #expect(throws: DoorTrouble.self) { _ = try await desk.target("weather") }
        }
        let lists = try place.directory.makeChild(Array(".pushspool".utf8), mode: 0o755)
            .makeChild(Array("public".utf8), mode: 0o755)
        for _ in 0..<20 {
            await #expect(throws: DoorTrouble.self) { _ = try await desk.target("weather") }
        }
        #expect(log.lines.count == 2, "\(log.lines)")
        let node = try lists.makeChild(Array("a".utf8), mode: 0o755)
        try node.put("apps.json", "{")
        for _ in 0..<20 {
            await #expect(throws: DoorTrouble.self) { _ = try await desk.target("weather") }
        }
        #expect(log.lines.count == 3, "\(log.lines)")
    }
}

import LinuxIO
import Logging
import SpoolStore
import TestSupport
import Testing

@testable import SharedResources

/// What the log says about steps that are tried again until they succeed.
struct FailureLogTests {
    private let recorded = RecordedLog()
    private var log: FailureLog

    init() { log = FailureLog(recorded.logger) }

    private func error(_ code: Int32, _ job: Int = 1) -> SystemError {
        SystemError(code: code, operation: "renameat2", subject: "work/\(job).json to done/\(job).json")
    }

    @Test mutating func `one cause is logged once for all jobs and attempts, with its remedy`() {
        for _ in 1...3 {
            for job in 1...100 { log.note(error(20, job), in: .archive(.done), ["id": "\(job)"]) }
            log.endRound()
        }
        #expect(recorded.lines.count == 1)
        #expect(recorded.lines.first?.hasPrefix("error job cannot be archived") == true)
        #expect(recorded.lines.first?.contains("id=1 ") == true)
        #expect(recorded.lines.first?.contains("make done/ a folder") == true)
    }

    @Test mutating func `each cause, step and folder is logged`() {
        log.note(error(20), in: .archive(.done))
        log.note(error(13), in: .archive(.done))
        log.note(error(20), in: .archive(.failed))
        log.note(error(20), in: .publish)
        #expect(recorded.lines.count == 4)
    }

    @Test mutating func `a full volume has a remedy of its own`() {
        log.note(SystemError.outOfSpace("openat"), in: .publish)
        #expect(recorded.lines.first?.contains("free up space on the volume") == true)
    }

    @Test mutating func `a step that works again is logged once, and its next failure again`() {
        log.note(error(20), in: .publish)
        log.endRound()
        #expect(recorded.lines.count == 1, "a round with a failure")
        log.endRound(isComplete: false)
        #expect(recorded.lines.count == 1, "a round that left it out")
        log.endRound()
        log.endRound()
        #expect(recorded.lines.count == 2 && recorded.lines.last == "notice feedback is written again ")
        log.note(error(20), in: .publish)
        #expect(recorded.lines.count == 3)
    }
}

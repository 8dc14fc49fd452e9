import LinuxIO
import Logging
import SpoolStore
import Synchronization
import TestSupport
import Testing

@testable import SharedResources

/// What the log says about steps that are tried again until they succeed.
struct FailureLogTests {
    private let lines = Lines()
    private var log: FailureLog

    init() {
        let lines = lines
        log = FailureLog(Logger(label: "test") { _ in Handler(lines: lines) })
    }

    private func error(_ code: Int32, _ job: Int = 1) -> SystemError {
        SystemError(code: code, operation: "renameat2", subject: "work/\(job).json to done/\(job).json")
    }

    @Test mutating func `one cause is logged once for all jobs and attempts, with its remedy`() {
        for _ in 1...3 {
            for job in 1...100 { log.note(error(20, job), in: .archive(.done), ["id": "\(job)"]) }
            log.endRound()
        }
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.hasPrefix("error job cannot be archived") == true)
        #expect(lines.all.first?.contains("id=1 ") == true && lines.all.first?.contains("make done/ a folder") == true)
    }

    @Test mutating func `each cause, step and folder is logged`() {
        log.note(error(20), in: .archive(.done))
        log.note(error(13), in: .archive(.done))
        log.note(error(20), in: .archive(.failed))
        log.note(error(20), in: .publish)
        #expect(lines.all.count == 4)
    }

    @Test mutating func `a full volume has a remedy of its own`() {
        log.note(SystemError.outOfSpace("openat"), in: .publish)
        #expect(lines.all.first?.contains("free up space on the volume") == true)
    }

    @Test mutating func `a step that works again is logged once, and its next failure again`() {
        log.note(error(20), in: .publish)
        log.endRound()
        #expect(lines.all.count == 1, "a round with a failure")
        log.endRound(isComplete: false)
        #expect(lines.all.count == 1, "a round that left it out")
        log.endRound()
        log.endRound()
        #expect(lines.all.count == 2 && lines.all.last == "notice feedback is written again ")
        log.note(error(20), in: .publish)
        #expect(lines.all.count == 3)
    }

    /// The lines that were logged.
    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        var all: [String] { state.withLock { $0 } }
        func add(_ line: String) { state.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key > $1.key }.map { "\($0)=\($1) " }.joined()
            lines.add("\(event.level) \(event.message) \(fields)")
        }
    }
}

package import Logging
import Synchronization

/// A log that a test can read.
package final class RecordedLog: Sendable {
    private let state = Mutex<[String]>([])

    /// Creates an empty log.
    package init() {}

    /// The lines: level, message and fields.
    package var lines: [String] { state.withLock { $0 } }

    /// A logger that writes to it.
    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key > $1.key }.map { "\($0)=\($1) " }.joined()
            log.state.withLock { $0.append("\(event.level) \(event.message) \(fields)") }
        }
    }
}

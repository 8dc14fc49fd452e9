import APNSModel
import Document
import LinuxIO
package import Logging

/// Writes one line an event to standard error: `2026-11-21T08:36:16.123Z notice job finished app=weather job=x.json`.
package struct LineLogHandler: LogHandler {
    /// What a line begins with.
    package enum Opening: Sendable {
        /// The time.
        case time
        /// The event's priority for systemd's journal, such as `<5>` (sd-daemon(3)). In text the time is left to the journal;
        /// an object keeps its own.
        case priority
    }

    /// The least severe level that is written.
    package var logLevel: Logger.Level
    /// What every line of this logger carries.
    package var metadata: Logger.Metadata = [:]
    private let format: DaemonConfiguration.LogFormat
    private let opening: Opening
    private let write: @Sendable ([UInt8]) -> Void

    /// Creates a handler; `write` gets each line with its end, on any thread.
    package init(
        level: Logger.Level, format: DaemonConfiguration.LogFormat, opening: Opening = .time,
        write: @escaping @Sendable ([UInt8]) -> Void = { StandardStream.error.write($0) }
    ) {
        self.logLevel = level
        self.format = format
        self.opening = opening
        self.write = write
    }

    /// Reads or writes one value that every line carries.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes the event's line.
    package func log(event: LogEvent) {
        let values = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.description)
        let time = WallTime(nanoseconds: WallClock.nanoseconds()).rfc3339
        let line =
            switch (opening, format) {
            case (.time, .text): Self.text("\(time) ", event, values)
            case (.priority, .text): Self.text("<\(Self.priority(of: event.level))>", event, values)
            case (.time, .json): Self.json(time, event, values)
            case (.priority, .json):
                Array("<\(Self.priority(of: event.level))>".utf8) + Self.json(time, event, values)
            }
        write(line + [UInt8(ascii: "\n")])
    }

    /// The level as syslog(3) counts.
    private static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    private static func text(_ opening: String, _ event: LogEvent, _ values: [String: String]) -> [UInt8] {
        var line = Array("\(opening)\(event.level) \(event.message)".utf8)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            line += Array(" \(key)=".utf8)
            if isPlain(value) {
                line += Array(value.utf8)
            } else {
                var writer = JSONWriter()
                writer.string(value)
                line += writer.bytes
            }
        }
        return line
    }

    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C && $0 != 0x7F }
    }

    private static func json(_ time: String, _ event: LogEvent, _ values: [String: String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (key, value) in [("time", time), ("level", "\(event.level)"), ("message", "\(event.message)")] {
            writer.key(key)
            writer.string(value)
        }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            writer.key(key)
            writer.string(value)
        }
        writer.endObject()
        return writer.bytes
    }
}

import Document
import LinuxIO
package import Logging
import PushModel
import Synchronization

/// The lowest level that loggers write. It may change while they are in use.
package final class LogThreshold: Sendable {
    private let state: Mutex<Logger.Level>

    /// Creates a threshold.
    package init(_ level: Logger.Level = .info) {
        state = Mutex(level)
    }

    /// The level.
    package var level: Logger.Level {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension LogLevel {
    /// The logger's level.
    package var level: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}

/// Writes one line per event to standard error: `2026-11-21T08:36:16.123Z notice job finished app=weather job=x.json`.
package struct LineLogHandler: LogHandler {
    /// The beginning of a line.
    package enum Opening: Sendable {
        /// The time.
        case time
        /// The event's priority for systemd's journal, such as `<5>` (sd-daemon(3)). Text lines then omit the time,
        /// which the journal adds; JSON objects keep theirs.
        case priority
    }

    /// The lowest level that is written: the threshold's, unless one was set for this logger.
    package var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    private var ownLevel: Logger.Level?
    private let threshold: LogThreshold
    /// The metadata in every line of this logger.
    package var metadata: Logger.Metadata = [:]
    private let format: LogFormat
    private let opening: Opening
    private let write: @Sendable ([UInt8]) -> Void

    /// Creates a handler with a fixed level. `write` receives each line with its line feed, on any thread.
    package init(
        level: Logger.Level, format: LogFormat, opening: Opening = .time,
        write: @escaping @Sendable ([UInt8]) -> Void = { StandardStream.error.write($0) }
    ) {
        self.init(LogThreshold(level), format: format, opening: opening, write: write)
    }

    /// Creates a handler that follows a threshold. `write` receives each line with its line feed, on any thread.
    package init(
        _ threshold: LogThreshold, format: LogFormat, opening: Opening = .time,
        write: @escaping @Sendable ([UInt8]) -> Void = { StandardStream.error.write($0) }
    ) {
        self.threshold = threshold
        self.format = format
        self.opening = opening
        self.write = write
    }

    /// Creates the logger of a process that keeps running. From now on a thread of its own writes its lines and all others
    /// for standard error, so that a reader that stops reading delays nothing else.
    package static func queued(
        _ label: String, _ threshold: LogThreshold, format: LogFormat
    ) -> Logger {
        let opening = StandardStream.error.isJournal ? Opening.priority : .time
        let handler = LineLogHandler(threshold, format: format, opening: opening)
        StandardStream.queueErrors { count in
            let hint: Logger.MetadataValue = "the reader of standard error was too slow, or its volume was full"
            let event = LogEvent(
                level: .warning, message: "log lines were lost", error: nil,
                metadata: [LogKey.lines: "\(count)", LogKey.hint: hint], source: nil, file: #fileID,
                function: #function, line: #line)
            return handler.line(of: event)
        }
        return Logger(label: label) { _ in handler }
    }

    /// Reads or sets one metadata value for every line.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes the event's line.
    package func log(event: LogEvent) { write(line(of: event)) }

    private func line(of event: LogEvent) -> [UInt8] {
        let time = WallTime(nanoseconds: WallClock.nanoseconds())
        var line: [UInt8] = []
        line.reserveCapacity(256)
        switch opening {
        case .time where format == .text:
            time.appendRFC3339(to: &line)
            line.append(UInt8(ascii: " "))
        case .time: break
        case .priority: line.append(contentsOf: "<\(Self.priority(of: event.level))>".utf8)
        }
        switch format {
        case .text: Self.appendText(of: event, values(of: event), to: &line)
        case .json: Self.appendJSON(of: event, at: time, values(of: event), to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// The values for the event's line, sorted by key. The event's own values take precedence over the logger's.
    private func values(of event: LogEvent) -> [(key: String, value: String)] {
        let own = event.metadata ?? [:]
        var values: [(key: String, value: String)] = []
        values.reserveCapacity(own.count + metadata.count)
        for (key, value) in own { values.append((key, value.description)) }
        for (key, value) in metadata where own[key] == nil { values.append((key, value.description)) }
        values.sort { $0.key < $1.key }
        return values
    }

    /// The syslog(3) number of the level.
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

    private static func appendText(
        of event: LogEvent, _ values: [(key: String, value: String)], to line: inout [UInt8]
    ) {
        line.append(contentsOf: event.level.description.utf8)
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: event.message.description.utf8)
        for (key, value) in values {
            line.append(UInt8(ascii: " "))
            line.append(contentsOf: key.utf8)
            line.append(UInt8(ascii: "="))
            let start = line.count
            line.append(contentsOf: value.utf8)
            guard !isPlain(line.span.extracting(start...), value) else { continue }
            line.removeLast(line.count - start)
            appendQuoted(value, to: &line)
        }
    }

    /// Whether a value, here with its bytes, needs no quotes.
    private static func isPlain(_ bytes: Span<UInt8>, _ value: String) -> Bool {
        var isASCII = true
        for index in bytes.indices {
            let byte = bytes[index]
            guard byte > 0x20, byte != 0x22, byte != 0x3D, byte != 0x5C else { return false }
            if byte >= 0x7F { isASCII = false }
        }
        // DEL and bytes beyond ASCII may be controls, too.
        return !bytes.isEmpty && (isASCII || !value.hasControls)
    }

    /// Appends a value as a JSON string with control characters escaped, so that it cannot affect a terminal.
    private static func appendQuoted(_ value: String, to line: inout [UInt8]) {
        var writer = JSONWriter()
        writer.string(value)
        guard value.hasControls else { return line.append(contentsOf: writer.bytes) }
        for scalar in String(decoding: writer.bytes, as: UTF8.self).unicodeScalars {
            if scalar.countsAsControl {
                let digits = String(scalar.value, radix: 16)
                line.append(contentsOf: "\\u".utf8)
                line.append(contentsOf: String(repeating: "0", count: 4 - digits.count).utf8)
                line.append(contentsOf: digits.utf8)
            } else {
                line.append(contentsOf: String(scalar).utf8)
            }
        }
    }

    private static func appendJSON(
        of event: LogEvent, at time: WallTime, _ values: [(key: String, value: String)], to line: inout [UInt8]
    ) {
        var writer = JSONWriter(appendingTo: line)
        line = []
        writer.beginObject()
        writer.key("time")
        writer.string(spelledBy: time.appendRFC3339)
        writer.member("level", event.level.description)
        writer.member("message", event.message.description)
        for (key, value) in values {
            if LogKey.numbers.contains(key), let number = Int(value) {
                writer.member(key, number)
            } else {
                writer.member(key, value)
            }
        }
        writer.endObject()
        line = writer.bytes
    }
}

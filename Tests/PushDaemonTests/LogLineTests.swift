import Logging
import PushModel
import ServiceProcess
import Testing

@testable import AppEngine
@testable import Configuration
@testable import JobOperations
@testable import PushDaemon

/// What is in a line of the log.
@Suite struct LogLineTests {
    private let values: Logger.Metadata = [
        LogKey.path: "done/job.json", LogKey.job: "b \"c\"=d\\e\n.json", LogKey.error: "",
        LogKey.count: .stringConvertible(17), LogKey.gateway: "é",
    ]

    @Test func `a line of text has time, level, message, and the values by key`() throws {
        let line = line(.text, values)
        #expect(WallTime(rfc3339: String(line.prefix(24))) != nil, "\(line)")
        let rest = String(line.dropFirst(24))
        #expect(
            rest == #" warning it happened app=weather error="" gateway=é job="b \"c\"=d\\e\n.json" notifications=17 "#
                + "path=done/job.json\n")
    }

    @Test func `a line of JSON has the same`() throws {
        let line = line(.json, values)
        let (start, time) = (line.prefix(9), String(line.dropFirst(9).prefix(24)))
        #expect(start == #"{"time":""# && WallTime(rfc3339: time) != nil, "\(line)")
        let rest = String(line.dropFirst(33))
        #expect(
            rest == #"","level":"warning","message":"it happened","app":"weather","error":"","gateway":"é","#
                + #""job":"b \"c\"=d\\e\n.json","notifications":17,"path":"done/job.json"}"# + "\n")
    }

    @Test func `nothing in a line of text is obeyed by a terminal`() {
        let values: Logger.Metadata = [LogKey.job: "a\u{9B}2J\u{202E}é\u{7F}"]
        #expect(line(.text, values).hasSuffix(#" job="a\u009b2J\u202eé\u007f""# + "\n"))
    }

    @Test func `what an event says goes before what its logger says`() {
        #expect(line(.text, [LogKey.app: "news"]).hasSuffix(" warning it happened app=news\n"))
    }

    @Test func `a line without values of its own has those of its logger`() {
        #expect(line(.text, nil).hasSuffix(" warning it happened app=weather\n"))
    }

    private func line(_ format: LogFormat, _ values: Logger.Metadata?) -> String {
        let lines = Lines()
        var logger = Logger(label: "test") { _ in
            LineLogHandler(level: .warning, format: format) { lines.add($0) }
        }
        logger[metadataKey: LogKey.app] = "weather"
        logger.info("it did not", metadata: values)
        logger.warning("it happened", metadata: values)
        return lines.text
    }
}

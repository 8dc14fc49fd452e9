import Foundation
import Logging
import ServiceProcess
import Synchronization
import Testing

@testable import AppEngine
@testable import Configuration
@testable import JobOperations
@testable import PushDaemon

/// The two formats of `log.format`.
@Suite struct LogFormatTests {
    /// What handlers have written.
    private final class Page: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        func append(_ more: [UInt8]) {
            bytes.withLock { $0 += more }
        }

        /// The lines; each must have its end.
        var lines: [String] {
            Array(bytes.withLock { String(decoding: $0, as: UTF8.self) }.components(separatedBy: "\n").dropLast())
        }
    }

    /// The lines that `body` makes a logger write.
    private static func lines(
        _ format: LogFormat, from level: Logger.Level = .info, _ body: (inout Logger) -> Void
    ) -> [String] {
        let page = Page()
        var logger = Logger(label: "test") { _ in LineLogHandler(level: level, format: format) { page.append($0) } }
        body(&logger)
        return page.lines
    }

    @Test func `with json a line is an object with time, level, message and what belongs to it`() throws {
        let lines = Self.lines(.json) { logger in
            logger[metadataKey: LogKey.app] = "weather"
            let job: Logger.MetadataValue = "a \"b\"\n\u{E4}\u{1}.json"
            logger.notice("job done", metadata: [LogKey.job: job, LogKey.count: "3", LogKey.app: "7"])
            logger.error("journal cannot be written", metadata: [LogKey.hint: "look"])
        }
        let all = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(all.count == 2 && all[0]["notifications"] as? Int == 3, "\(all)")
        let objects = all.map { $0.compactMapValues { $0 as? String } }
        #expect(
            objects[0].filter { $0.key != "time" } == [
                "level": "notice", "message": "job done", "app": "7", "job": "a \"b\"\n\u{E4}\u{1}.json",
            ])
        #expect(objects[1]["hint"] == "look" && objects[1]["level"] == "error" && objects[1]["app"] == "weather")
        for object in objects {
            #expect(object["time"]?.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil)
        }
        #expect(lines.allSatisfy { $0.hasPrefix(#"{"time":""#) })
    }

    @Test func `with text the same is words behind the message`() {
        let lines = Self.lines(.text) { logger in
            logger.notice("job done", metadata: [LogKey.job: "a b.json", LogKey.app: "weather"])
        }
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix(#"Z notice job done app=weather job="a b.json""#) == true)
    }

    @Test(arguments: [LogFormat.text, .json])
    func `what is less severe than log.level is not written`(format: LogFormat) {
        let lines = Self.lines(format, from: .warning) { logger in
            logger.debug("no")
            logger.notice("no")
            logger.warning("yes")
            logger.error("yes")
        }
        #expect(lines.count == 2 && !lines.contains { $0.contains("no\"") || $0.hasSuffix(" no") })
    }
}

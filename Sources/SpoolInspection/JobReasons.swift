package import Document
import JSON
import ServiceProcess
import SpoolModel

/// The reasons why notifications of a job were not accepted, as its result file counts them.
package struct JobReasons: Hashable, Sendable {
    private let counts: [String: [String: Int]]

    /// Reads a result file. The counts of an outcome may be too low after a restart of the daemon.
    package init(of result: [UInt8]) {
        var parser = JSON.Parser()
        var counts: [String: [String: Int]] = [:]
        for outcome in (try? parser.parse(result).root["reasons"])?.members.map({ $0 }) ?? [] {
            for reason in outcome.value.members {
                counts[outcome.key.text, default: [:]][reason.key.text] = reason.value.integer ?? 0
            }
        }
        self.counts = counts
    }

    /// One line per outcome, the most frequent reasons first: `rejected: 2 Unregistered, 1 BadDeviceToken`.
    package var lines: [String] {
        counts.sorted { $0.key < $1.key }.map { outcome, reasons in
            let words = reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
            return "\(outcome): \(words.joined(separator: ", "))".withoutControls
        }
    }

    /// Writes the member `reasons` if there are any: for each outcome an object with the count of each reason.
    package func write(to writer: inout JSONWriter) {
        guard !counts.isEmpty else { return }
        writer.key("reasons")
        writer.reasons(counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}

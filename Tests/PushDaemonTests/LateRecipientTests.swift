import Foundation
import TestSupport
import Testing

/// Recipients that are too late to be sent to.
@Suite struct LateRecipientTests {
    @Test func `what expires before it is sent takes a few bytes of the journal each`() async throws {
        let count = 10_000
        try await Bench.serving(try Bench.Setup()) { bench, _ in
            // No two neighbours share their attributes, so each is a batch of its own.
            let late = (0..<count).map { #"{"token":"\#(token($0))","expiration":\#(1_500_000_000 + $0 % 2)}"# }
            let lines = [#"{"defaults":{"alert":"x"}}"#] + late + ["\"\(token(count))\"", ""]
            try bench.drop("late.jsonl", lines.joined(separator: "\n"))
            let end = try await bench.end(of: "late.jsonl")
            #expect(end.expired == count && end.accepted == 1)
            #expect(try bench.lines("notification").count == count)
            let written = try await awaited("the metrics of it") { bench.journalByteCount(expired: count) }
            #expect(written < 10 * count, "\(written) bytes")
        }
    }
}

extension Bench {
    /// How many bytes were written to the journal, as the metrics tell, once they tell that so many have expired.
    fileprivate func journalByteCount(expired count: Int) -> Int? {
        guard let text = try? contents(".pushspool/public/node-a/metrics.prom") else { return nil }
        let lines = text.split(separator: "\n")
        guard lines.contains(where: { $0.contains("outcome=\"expired\"") && $0.hasSuffix(" \(count)") }) else {
            return nil
        }
        let line = lines.first { $0.hasPrefix("pushspool_journal_written_bytes_total{") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }
}

import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

struct JournalHistoryTests {
    /// The regions of a journal in which three jobs were claimed, and the second got that many results.
    private func history(of queries: [String], resultCount: Int = 1) throws -> JournalHistory {
        var (file, book) = (JournalFile(), try JournalBook.fresh())
        for number in 1...3 { try book.append(.header(JournalSample.header(number, recipients: 500))) }
        for index in 0..<resultCount {
            try book.append(
                .result(JournalSample.id(2), JournalResult(.accepted, [index..<index + 1], at: JournalSample.noon)))
        }
        file.write(&book)
        var (history, replay) = (JournalHistory(JobQueries(queries)), JournalReplay(layout: file.layout))
        for index in 0..<file.layout.regionCount {
            replay.addHead(Array(file.region(index).prefix(JournalReplay.headByteCount)), index: index)
        }
        for index in replay.readingOrder { history.addRegion(file.region(index), index: index) }
        return history
    }

    @Test(arguments: ["job-2.json", "weather/job-2.json", JournalSample.id(2).description])
    func `the records of a job are found by its name and by its id`(query: String) throws {
        let history = try history(of: [query])
        let trace = try #require(history.traces[JournalSample.id(2)])
        #expect(history.traces.count == 1 && trace.facts?.name == JournalSample.name("job-2.json"))
        let words = trace.lines.map { $0.split(separator: " ")[1] }
        #expect(words == ["HEADER", "RESULT"])
    }

    @Test(arguments: ["news/job-2.json", "job-9.json", "other"])
    func `those of others are not`(query: String) throws {
        #expect(try history(of: [query]).traces.isEmpty)
    }

    @Test func `of very many records the first and the last are kept`() throws {
        let trace = try #require(try history(of: ["job-2.json"], resultCount: 100).traces[JournalSample.id(2)])
        #expect(trace.lines.count == 61 && trace.lines[20] == "… 41 records …")
        #expect(trace.lines[0].contains("HEADER") && trace.lines[60].contains("[99]"))
    }

    @Test func `no bytes of a region lead anywhere else`() throws {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            var history = JournalHistory(JobQueries(["job-2.json"]))
            let count = Int.random(in: 0...300, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            history.addRegion(bytes, index: 0)
            #expect(history.traces.isEmpty, "seed \(seed)")
        }
    }
}

import PushModel
import SpoolModel
import Testing

@testable import SpoolInspection

struct ProgressLineTests {
    private func line(_ count: Int, _ settledCount: Int, rate: Int? = nil, remaining: Duration? = nil) -> String {
        var job = SpoolStatus.Job(name: "a.json", id: JobID(bits: 1), count: count, settledCount: settledCount)
        (job.rate, job.remaining) = (rate, remaining)
        return ProgressLine.text(of: job)
    }

    @Test func `the line says share, counts, rate and what is left`() {
        #expect(
            line(1_000_000, 250_000, rate: 31_000, remaining: .seconds(24))
                == "[######------------------]  25 %  250000 of 1000000  31000/s  24 s left")
    }

    @Test(arguments: [
        (71, "[######------------------]  25 %  250000 of 1000000  31000/s  24 s left"),
        (70, "25 %  250000 of 1000000  31000/s  24 s left"), (43, "25 %  250000 of 1000000  31000/s  24 s left"),
        (42, "25 %"), (3, "25 "), (0, ""), (-1, ""),
    ])
    func `on a narrow terminal the bar goes first, then the numbers`(columns: Int, text: String) {
        var job = SpoolStatus.Job(name: "a.json", id: JobID(bits: 1), count: 1_000_000, settledCount: 250_000)
        (job.rate, job.remaining) = (31_000, .seconds(24))
        #expect(ProgressLine.text(of: job, columns: columns) == text)
    }

    @Test func `what is not known is left out`() {
        #expect(line(9, 0) == "[------------------------]  0 %  0 of 9")
        #expect(line(9, 9, rate: 0) == "[########################]  100 %  9 of 9  0/s")
    }

    @Test(arguments: [
        (0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 d"), (-5, "0 s"),
    ])
    func `a time has one unit`(seconds: Int, text: String) {
        #expect(Duration.seconds(seconds).inWords == text)
    }

    @Test func `a table is as wide as its widest cells, without spaces at the ends`() {
        let table = Table(header: ["a", "n", "c"], rows: [["long", "7", ""], ["", "10000", "x"]], rightAligned: [1])
        #expect(table.lines == ["a         n  c", "long      7", "      10000  x"])
    }
}

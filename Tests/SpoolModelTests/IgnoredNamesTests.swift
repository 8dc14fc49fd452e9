import JobFormat
import PushModel
import SpoolModel
import Testing

/// Files in `new/` that somebody may have meant to be jobs, and whose names say that they are none.
@Suite struct IgnoredNamesTests {
    /// Scans a folder with these names.
    private func scan(_ names: [String], _ intake: inout Intake) -> [String] {
        intake.beginScan()
        for name in names.compactMap(FileName.init(_:)) { intake.listed(name, at: .zero) }
        intake.endScan()
        return intake.takeIgnored().map(\.description)
    }

    @Test func `what two scans find is told once, and again only if it was away`() {
        var intake = Intake()
        #expect(scan(["UPPER.JSON", "noext", "a.json"], &intake) == [] && intake.ignoredCount == 0)
        #expect(scan(["UPPER.JSON", "b.txt"], &intake) == ["UPPER.JSON"] && intake.ignoredCount == 1)
        #expect(scan(["UPPER.JSON", "b.txt"], &intake) == ["b.txt"] && intake.ignoredCount == 2)
        #expect(scan(["UPPER.JSON", "b.txt"], &intake) == [] && intake.ignoredCount == 2)
        #expect(scan([], &intake) == [] && intake.ignoredCount == 0)
        #expect(scan(["b.txt"], &intake) == [] && scan(["b.txt"], &intake) == ["b.txt"])
    }

    @Test func `a name that the watch reports is told a moment later, once, if it has stayed`() throws {
        var intake = Intake()
        let (wrong, renamed) = (try #require(FileName("a.txt")), try #require(FileName("b.json.part")))
        let start = Moment.zero + .seconds(100)
        for hint in [IntakeHint.created, .modified, .closedAfterWrite] { intake.hint(hint, wrong, at: start) }
        intake.hint(.movedIn, renamed, at: start + .milliseconds(1))
        let deadline = intake.deadline
        let due = try #require(deadline)
        let early = intake.takeMistaken(at: start)
        #expect(due > start && early.isEmpty && intake.ignoredCount == 0)
        let found = intake.takeMistaken(at: due + .milliseconds(1))
        #expect(found == [wrong, renamed])
        intake.confirmMistaken(wrong)
        let told = intake.takeIgnored()
        intake.hint(.modified, wrong, at: due)
        let next = intake.deadline
        #expect(told == [wrong] && intake.ignoredCount == 1 && next == nil)
        // Scans do not tell it again, and notice that it is gone.
        #expect(scan(["a.txt"], &intake) == [] && scan(["a.txt"], &intake) == [] && intake.ignoredCount == 1)
        #expect(scan([], &intake) == [] && intake.ignoredCount == 0)
    }

    @Test func `hidden files, editors' copies and what rsync writes are nobody's mistake`() {
        var intake = Intake()
        let names = [".a.json", "a.json~", ".a.json.Xy12Zq", "a.json"]
        #expect(scan(names, &intake) == [] && scan(names, &intake) == [] && intake.ignoredCount == 0)
    }

    @Test func `of a crowd the first are told, and all are counted`() {
        var intake = Intake()
        let names = (0..<5_000).map { "n\($0)" }
        _ = scan(names, &intake)
        #expect(scan(names, &intake).count == 1_000 && intake.ignoredCount == 5_000)
        #expect(scan(names, &intake) == [] && scan(["n4999"], &intake) == [])
    }

    @Test(arguments: [
        ("UPPER.JSON", "rename it to UPPER.json: the extension must be lower case"),
        ("x.Yml", "rename it to x.yml: the extension must be lower case"),
        ("x.json.gz", "unpack it, and give it a job's file name"),
        ("noext", "rename it so that it ends in .json, .yaml, .yml or .jsonl, or remove it"),
        ("x.txt", "rename it so that it ends in .json, .yaml, .yml or .jsonl, or remove it"),
        ("x.json.result.json", "remove it: it is the result file of a job, not a job"),
        ("x.json.rest", "remove it, or move it back next to its job in hold/"),
    ])
    func `each has a remedy`(name: String, remedy: String) throws {
        let file = try #require(FileName(name))
        #expect(file.mayBeMistaken && file.remedy == remedy)
    }
}

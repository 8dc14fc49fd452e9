import JobFormat
import LinuxIO
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct HookMarkTests {
    private let state: TemporaryDirectory

    init() throws {
        state = try TemporaryDirectory()
    }

    private func mark(_ app: String) -> HookMark { HookMark(of: app, in: state.directory) }

    @Test func `the last file that was written is read, and none before one was`() throws {
        let (first, second) = (try fileName("1.jsonl"), try fileName("2.jsonl"))
        #expect(try mark("weather").read() == nil)
        for name in [first, second] { try mark("weather").write(name) }
        #expect(try mark("weather").read() == second)
        #expect(try state.directory.sortedNames() == ["hook-weather"])
    }

    @Test(arguments: ["a.new", "a-new", "a.tmp"])
    func `apps do not write over each other's, whatever their names are`(other: String) throws {
        let (first, second) = (try fileName("1.jsonl"), try fileName("2.jsonl"))
        try mark(other).write(first)
        try mark("a").write(second)
        #expect(try mark(other).read() == first)
        #expect(try mark("a").read() == second)
    }

    @Test func `what a crash has left of a mark is no mark`() throws {
        try mark("weather").write(try fileName("1.jsonl"))
        try state.directory.put(".hook-weather", "")
        #expect(try mark("weather").read()?.escaped == "1.jsonl")
        try mark("weather").write(try fileName("2.jsonl"))
        #expect(try mark("weather").read()?.escaped == "2.jsonl")
    }
}

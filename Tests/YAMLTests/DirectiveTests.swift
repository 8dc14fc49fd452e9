import Document
import Synchronization
import Testing
import YAML

/// Directives, and how often a reading can be ended.
@Suite struct DirectiveTests {
    private static func directives(_ count: Int, _ end: String = "\n") -> String {
        (0..<count).map { "%TAG !t\($0)! tag:example.com:" }.joined(separator: end) + end
    }

    /// How often a budget is asked while a text is read, and what came of it; from the `last` time on it is spent.
    private static func asked(_ text: String, last: Int = .max) -> (count: Int, fault: Diagnostic?) {
        let asked = Mutex(0)
        let budget = ReadingBudget {
            asked.withLock {
                $0 += 1; return $0 >= last ? Diagnostic("over") : nil
            }
        }
        var parser = YAML.Parser(budget: budget)
        var fault: Diagnostic?
        do throws(Diagnostic) { _ = try parser.parse(Array(text.utf8)) } catch { fault = error }
        return (asked.withLock { $0 }, fault)
    }

    @Test func `sixteen directives are accepted`() {
        #expect(fault("%YAML 1.2\n" + Self.directives(15) + "--- {a: 1}\n") == nil)
    }

    @Test(arguments: ["\n", "\r\n", "\r", "\n# note\n\n"])
    func `more directives are refused where the first is that is too many`(end: String) {
        let fault = fault(Self.directives(40, end) + "--- {a: 1}\n")
        #expect(fault?.message == "the document has more than 16 directives")
        #expect(fault?.hint == "remove the lines that begin with `%`; a job needs none")
        #expect(fault?.place != nil)
    }

    @Test(arguments: ["%YAML 1.1", "%YAML\t1.1 # old", "%YAML 1.3", "%YAML"])
    func `a document of another version is refused`(directive: String) {
        let fault = fault("# note\n\(directive)\n---\nstrict: yes\n")
        #expect(fault?.message.hasSuffix("is not supported: files are read as YAML 1.2") == true)
        #expect(fault?.place == Place(line: 2, column: 1) && fault?.hint == "remove the line")
    }

    @Test func `the place of a directive too many is its line`() {
        #expect(fault("# note\n" + Self.directives(17) + "--- {a: 1}\n")?.place == Place(line: 18, column: 1))
    }

    @Test(arguments: ["--- {a: 1}\n...\n", "--- {a: 1}\n... # end\n\n# note\n", "--- {a: 1}\n"])
    func `directives behind the document are another document`(document: String) {
        #expect(fault(document + Self.directives(1_000))?.message == "the file has more than one document")
    }

    @Test func `a percent sign that begins a line of text is no directive`() throws {
        let text =
            "a: \"" + String(repeating: "\n%d", count: 40) + "\"\nb: |\n" + String(repeating: "  %x\n", count: 40)
        #expect(try read(text).root["a"]?.text.hasPrefix("\n%d") != nil)
    }

    @Test(arguments: ["# note\n", "\n", "#", "- 1\n", "é: 1\n", "? a\n", "%TAG ! !\n", "\"", "[a, "])
    func `however a text is made, its budget is asked once in 16 KiB, and no more than that`(unit: String) {
        let text = String(repeating: unit, count: 1 << 20 / unit.utf8.count)
        let (count, fault) = Self.asked(text)
        if fault == nil || fault?.message.contains("empty") == true { #expect(count >= 64) }
        #expect(count <= 64 + 1 << 20 / 4_096)
    }

    @Test func `a reading ends inside a comment when its budget is spent`() {
        let end = Self.asked("a: 1\n" + String(repeating: "# note\n", count: 100_000) + "b: 2\n", last: 10)
        #expect(end.count == 10 && end.fault == Diagnostic("over"))
    }
}

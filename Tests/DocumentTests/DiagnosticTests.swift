import Document
import Testing

@Suite struct DiagnosticTests {
    @Test func `a diagnostic prints like a compiler's`() {
        let fault = Diagnostic("too long", hint: "cut it", at: Place(line: 12, column: 5)).about("recipients[3].token")
        #expect(
            fault.rendered(file: "new/x.yaml") == "new/x.yaml:12:5: error: recipients[3].token: too long\nhint: cut it")
        let warning = Diagnostic("odd", severity: .warning)
        #expect(warning.rendered(file: "x") == "x: warning: odd")
    }

    @Test func `what users wrote is quoted without control characters and cut`() {
        #expect(Diagnostic.quoted("a\u{1b}[2J\n\u{202e}") == "`a\\u{1B}[2J\\n\\u{202E}`")
        #expect(Diagnostic.quoted(String(repeating: "x", count: 61)) == "`" + String(repeating: "x", count: 60) + "…`")
    }

    @Test func `a report counts all and keeps the first thousand`() {
        var report = Report()
        for line in (1...1_500).reversed() { report.add(Diagnostic("x", at: Place(line: line, column: 1))) }
        report.add(Diagnostic("y", severity: .warning))
        #expect(report.errorCount == 1_500 && report.warningCount == 1 && report.diagnostics.count == 1_000)
        #expect(report.inOrder.first?.place?.line == 501)
    }

    @Test(
        arguments: [
            ("tokenz", "token"), ("Payload", "payload"), ("push-type", "push_type"), ("expiraton", "expiration"),
            ("colapse_id", "collapse_id"), ("prioirty", "priority"), ("x", nil), ("completely_else", nil), ("", nil),
        ] as [(String, String?)])
    func `a misspelt key finds the one that was meant`(word: String, expected: String?) {
        let keys = ["token", "tokens", "payload", "push_type", "expiration", "collapse_id", "priority", "id"]
        #expect(Nearest.word(to: word, among: keys) == expected)
    }
}

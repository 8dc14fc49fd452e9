import Testing

@testable import SpoolInspection

struct ResultSummaryTests {
    @Test func `a result file in words has nothing that a terminal obeys`() {
        let result = #"{"code":"x\u001b[2J","why":"y\u009b\nz"}"#
        #expect(ResultSummary.text(of: Array(result.utf8)) == "x\u{FFFD}[2J, y\u{FFFD}\u{FFFD}z")
        let faults = #"{"code":"x\u001b","diagnostics":[{"message":"a\u202eb","hint":"c\u0007"}]}"#
        #expect(
            ResultSummary.text(of: Array(faults.utf8)) == "x\u{FFFD}\n  a\u{FFFD}b\n  hint: c\u{FFFD}")
    }
}

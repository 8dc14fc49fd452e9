import Testing

struct CorePurityTests {
    @Test func `cores neither wait nor lock nor read a clock`() {
        let findings = Repository.swiftFiles.flatMap { CorePurity.findings(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test(arguments: [
        "func f() async {}", "let now = ContinuousClock().now", "let m = Mutex(1)", "actor A {}", "Task { f() }",
        "func f(at: Date) {}",
    ])
    func `a word of waiting is found in a core and only there`(code: String) {
        #expect(CorePurity.findings(in: .source(code, target: "SpoolModel")).count == 1)
        #expect(CorePurity.findings(in: .source(code, target: "SpoolStore")).isEmpty)
        #expect(CorePurity.findings(in: .source("// " + code, target: "SpoolModel")).isEmpty)
    }
}

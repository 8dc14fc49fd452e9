import Testing

struct BudgetsTests {
    @Test func `files, bodies and parameter lists are within budget`() {
        let findings = Repository.swiftFiles.flatMap { Budgets.findings(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `files in C and C++ are within budget`() {
        let paths = Repository.paths(under: ["Sources", "Tests"]).filter { path in
            [".c", ".cpp", ".h"].contains { path.hasSuffix($0) }
        }
        let findings = paths.flatMap { Budgets.fileLength(of: Repository.text($0), path: $0) }
        #expect(!paths.isEmpty)
        #expect(findings.isEmpty, "\(findings.report)")
    }
}

struct BudgetsCheckTests {
    @Test func `the five hundred and first line is found`() {
        #expect(Budgets.findings(in: .source(lines(500))).isEmpty)
        #expect(Budgets.findings(in: .source(lines(501))).map(\.line) == [501])
    }

    @Test(arguments: [
        ("func f(\n    a: Int\n) -> Int {\n", "}"), ("init() {\n", "}"), ("deinit {\n", "}"),
        ("var a: Int {\n", "}"), ("let a = {\n", "}()"), ("subscript(a: Int) -> Int {\n", "}"),
    ])
    func `a body of forty-one lines is found`(head: String, tail: String) {
        #expect(Budgets.findings(in: .source("struct S {\n" + head + lines(38) + tail + "\n}")).isEmpty)
        #expect(Budgets.findings(in: .source("struct S {\n" + head + lines(39) + tail + "\n}")).count == 1)
    }

    @Test func `a body that is one switch may have sixty lines`() {
        let head = "func f() {\nreturn switch (a, b { $0 }) {\n"
        #expect(Budgets.findings(in: .source(head + lines(56) + "}\n}")).isEmpty)
        #expect(Budgets.findings(in: .source(head + lines(57) + "}\n}")).count == 1)
        #expect(Budgets.findings(in: .source(head + lines(50) + "}\nreturn\n}")).count == 1)
    }

    @Test(arguments: [
        "func f(a: A, b: B<C, D>, c: C = .init(1, 2), d: (D, E) -> F, e: E) {}",
        "init(a: A, b: B, c: C, d: D, e: E) {}",
        "func f() { func g(a: A, b: B, c: C, d: D, e: E) {} }", "subscript<T>(a: A, b: B, c: C, d: D, e: E) -> T { a }",
    ])
    func `a fifth parameter is found`(code: String) {
        #expect(Budgets.findings(in: .source("struct S {\n\(code)\n}")).map(\.line) == [2])
    }

    @Test(arguments: [
        "func f(a: A, b: B<C, D>, c: C = .init(1, 2), d: (D, E) -> F,) {}", "func f() {}", "a.init(1, 2, 3, 4, 5)",
        "f { a, b, c, d, e in a }", "init?(\n    a: A, b: B,\n    c: C, d: [D: E]\n) {}",
    ])
    func `four parameters are within budget`(code: String) {
        #expect(Budgets.findings(in: .source(code)).isEmpty)
    }

    @Test func `C decides the parameters of a callback in an island and nowhere else`() {
        let code = "func f(a: UnsafeRawPointer?, b: B, c: C, d: D, e: E) {}"
        #expect(Budgets.findings(in: .source(code, target: "OpenSSL")).isEmpty)
        #expect(Budgets.findings(in: .source(code)).count == 1)
    }

    @Test func `a file that cannot be scanned is a finding`() {
        #expect(Budgets.findings(in: .source("func f() {\n")).count == 1)
    }
}

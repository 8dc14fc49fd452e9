import Testing

struct DocumentedDeclarationsTests {
    @Test func `everything another target can see is documented`() {
        let check = DocumentedDeclarations(protocolsIn: Repository.swiftFiles)
        let findings = Repository.swiftFiles.flatMap { check.findings(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }
}

struct DocumentedDeclarationsCheckTests {
    private func findings(_ text: String) -> [Finding] {
        let file = SourceFile.source(text)
        return DocumentedDeclarations(protocolsIn: [file]).findings(in: file)
    }

    @Test(arguments: [
        "package struct S {}", "public let a = 1", "@A\npackage func f() {}", "package typealias A = B",
        "struct S {\n// a note\npackage init() {}\n}", "/// D.\n\npackage let a = 1",
        "extension S { package var a: Int { 1 } }",
        "/// D.\npackage enum E {\ncase a\n}", "/// D.\npackage protocol P {\nfunc f()\n}",
        "/// D.\nlet a = 1\npackage let b = 2",
    ])
    func `a visible declaration without a comment is found`(code: String) {
        #expect(findings(code).count == 1)
    }

    @Test(arguments: [
        "/// D.\npackage struct S {}", "struct S { let a: Int }", "enum E { case a }", "package import A",
        "/// D.\n@A(b)\npackage static func f() {}", "private protocol P { func f() }",
    ])
    func `documented and hidden declarations are left alone`(code: String) {
        #expect(findings(code).isEmpty)
    }

    @Test func `a throwing declaration says what it throws`() {
        let code = "package func f() throws(E) {}"
        #expect(findings("/// D.\n" + code).map(\.line) == [2])
        #expect(findings("/// D.\n///\n/// - Throws: `E` when full; wait and try again.\n" + code).isEmpty)
    }

    @Test(arguments: [
        "extension S: Equatable { package static func == (a: S, b: S) -> Bool { true } }",
        "/// D.\npackage struct S: Hashable, Sendable {\npackage func hash(into h: inout Hasher) {}\n}",
        "/// D.\npackage actor A {\npackage nonisolated var unownedExecutor: E { e }\n}",
        "/// D.\nprotocol P { func f() throws }\nextension S: P { package func f() throws {} }",
    ])
    func `what a protocol demands is documented by the protocol`(code: String) {
        #expect(findings(code).isEmpty)
    }

    @Test func `only what the protocol demands is exempt`() {
        #expect(findings("extension S: Equatable { package func f() {} }").count == 1)
        #expect(findings("protocol P { func f() }\nextension S { package func f() {} }").count == 1)
    }
}

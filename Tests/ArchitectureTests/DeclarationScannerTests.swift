import Testing

struct DeclarationScannerTests {
    private func declarations(_ text: String) -> [Declaration] {
        SourceFile.source(text).declarations
    }

    @Test func `types, members and cases are found with their scopes`() {
        let found = declarations(
            """
            package enum Color: String, P where A: B {
                case red = "r", green
                indirect case mix(a: Int)
                struct Inner { let x = [1].map { $0 } ; var y: Int { 2 } }
                init() {}
            }
            extension Outer.Inner: Q { subscript(i: Int) -> Int { i } }
            """)
        #expect(
            found.map(\.name) == ["Color", "red", "mix", "Inner", "x", "y", "init", "Outer.Inner", "subscript"])
        #expect(found[5].scopes.map(\.name) == ["Color", "Inner"])
        #expect(found[0].inherited == ["String", "P"])
        #expect(found[8].scopes.last?.name == "Outer.Inner")
    }

    @Test func `a word after a dot or in a body declares nothing`() {
        let found = declarations("let a = X.init(b)\nfunc f() { var b = 1\n func g() {} }\nlet c: T = .case")
        #expect(found.map(\.name) == ["a", "f", "c"])
    }

    @Test func `a name may be a word that is a modifier elsewhere`() {
        let found = declarations("enum E {\ncase open\ncase a, package\ncase b\n}")
        #expect(found.map(\.name) == ["E", "open", "a", "b"])
        #expect(found.allSatisfy { $0.access == nil })
    }

    @Test func `the access level is the member's and not its setter's`() {
        let found = declarations("public private(set) var a = 1\nprivate(set) var b = 2\npackage final class C {}")
        #expect(found.map(\.access) == ["public", nil, "package"])
    }

    @Test func `attributes and comments between do not part a declaration from its documentation`() {
        let found = declarations(
            """
            /// One.
            @Test(arguments: [1])
            func a() {}

            /// Two.
            // swift-format-ignore
            package static var b: Int { 1 }

            @safe
            /// Three.
            struct C {}
            let d = 1  /// no documentation of e
            let e = 2
            """)
        #expect(found.prefix(3).map(\.documentation) == [["One."], ["Two."], ["Three."]])
        #expect(found[4].documentation.isEmpty)
    }

    @Test(arguments: [
        ("func f() throws {}", true), ("func f() async throws(E) -> Int { 1 }", true),
        ("func f(g: () throws -> Void) rethrows {}", true), ("func f() -> () throws -> Void { g }", false),
        ("func f(g: () throws -> Void) {}", false), ("init?(a: Int) throws {}", true),
        ("var a: Int { get throws { 1 } }", true), ("var a: Int { get async throws(E) { 1 } }", true),
        ("var a: Int { try throws() }", false), ("let a: () throws -> Void", false),
    ])
    func `what may throw is known from the signature`(text: String, isThrowing: Bool) {
        #expect(declarations("struct S {\n\(text)\n}")[1].isThrowing == isThrowing)
    }

    @Test func `requirements of a protocol have no bodies`() {
        let found = declarations("protocol P {\nfunc f() -> T\nvar a: Int { get throws }\ninit(b: Int) throws\n}")
        #expect(found.map(\.name) == ["P", "f", "a", "init"])
        #expect(found.map(\.isThrowing) == [false, false, true, true])
        #expect(found[1].body == nil)
    }

    @Test func `a stored property does not take the body of the next declaration`() {
        let found = declarations("struct S {\nvar a: @Sendable () -> Int\n@A var b = c\nfunc d() { e }\n}")
        #expect(found.map { $0.body != nil } == [false, false, false, true])
    }

    @Test func `operators are named by their characters`() {
        #expect(
            declarations("static func == (a: A, b: A) -> Bool { true }\nfunc <(a: A) {}").map(\.name) == ["==", "<"])
    }
}

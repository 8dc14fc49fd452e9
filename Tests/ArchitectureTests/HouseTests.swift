import Testing

struct HouseTests {
    @Test func `types and targets are within their limits, or on a list that shrinks`() {
        let findings = House(Repository.swiftFiles).findings(with: House.exceptions)
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `every exception has its reason`() {
        for exception in House.exceptions { #expect(!exception.reason.isEmpty, "\(exception.size)") }
    }
}

struct HouseCheckTests {
    private let long = "struct S {\n" + lines(300) + "}\n"

    @Test func `a type counts with its extensions`() {
        let other = SourceFile.source("extension S {\n" + lines(300) + "}\n")
        #expect(House([.source(long)]).excesses.isEmpty)
        #expect(House([.source(long), other]).excesses == [.init(subject: "PushDaemon.S", unit: .lines): 604])
    }

    @Test func `what has a value of its own is no stored property`() {
        let plain = "let a: Int\nvar b = { 1 }()\nvar c: Int { didSet { f() } }\n"
        let none = "static let d = 1\nvar e: Int { 1 }\nvar f: Int {\nget { 1 }\n}\n"
        let type = { (functions: String) in
            "struct S {\n" + String(repeating: plain, count: 7) + none + functions + "}"
        }
        let functions = (1...4).map { "func f\($0)() {}\n" }.joined()
        #expect(House([.source(type(""))]).excesses.isEmpty)
        let excesses = House([.source(type(functions))]).excesses
        #expect(excesses == [.init(subject: "PushDaemon.S", unit: .storedProperties): 21])
    }

    @Test func `the forty-sixth function is found`() {
        let type = { (count: Int) in "struct S {\n" + String(repeating: "func f() {}\n", count: count) + "}" }
        #expect(House([.source(type(45))]).excesses.isEmpty)
        #expect(House([.source(type(46))]).excesses == [.init(subject: "PushDaemon.S", unit: .functions): 46])
    }

    @Test func `folders that use each other are found, and a chain of them is not`() {
        func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: "Sources/T/" + path, text: text) }
        let chain = [file("A/a.swift", "struct A { let b: B }"), file("B/b.swift", "struct B { let c: C }")]
        #expect(House(chain + [file("c.swift", "struct C {}")]).excesses.isEmpty)
        let circle = House(chain + [file("c.swift", "struct C { func f() -> A {} }")])
        #expect(circle.excesses == [.init(subject: "T", unit: .foldersInCircles): 3])
        #expect(House(chain + [file("c.swift", "struct C { let a = D.A() }")]).excesses.isEmpty)
    }

    @Test(arguments: [(604, 0), (630, 0), (603, 1), (700, 1)])
    func `an exception may not be outgrown, and follows what shrinks`(count: Int, findings: Int) {
        let house = House([.source(long), .source("extension S {\n" + lines(300) + "}\n")])
        let exception = House.Exception("PushDaemon.S", .lines, count, "a reason")
        #expect(house.findings(with: [exception]).count == findings)
        #expect(House([]).findings(with: [exception]).count == 1)
    }
}

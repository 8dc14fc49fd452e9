import Testing

struct UnsafeCodeTests {
    private let files = Repository.swiftFiles

    @Test func `unsafe code stands in the islands only`() {
        let findings = files.flatMap { UnsafeCode.unsafeWords(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `a promise the compiler cannot check has its proof beside it`() {
        let findings = files.flatMap { UnsafeCode.uncheckedPromises(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `nothing is unfinished and nothing ignores an error by a trap`() {
        let findings = files.flatMap { UnsafeCode.unfinishedCode(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `no file has loose ends`() {
        let paths =
            Repository.paths(under: ["Sources", "Tests", "etc", ".ci"]) + ["Makefile", "Package.swift", "README.md"]
        let findings = paths.flatMap { UnsafeCode.looseEnds(in: Repository.text($0), path: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `every task belongs to the tree`() {
        let findings = files.flatMap { UnsafeCode.looseTasks(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }
}

struct UnsafeCodeCheckTests {
    @Test(arguments: [
        "unsafe f()", "@unsafe struct S {}", "@safe struct S {}", "a.withUnsafeBytes { $0 }", "let p: UnsafeRawPointer",
        "unsafeBitCast(a, to: B.self)", "let p: OpaquePointer",
    ])
    func `unsafe code is found outside an island and only there`(code: String) {
        #expect(UnsafeCode.unsafeWords(in: .source(code)).count == 1)
        #expect(UnsafeCode.unsafeWords(in: .source(code, target: "OpenSSL")).isEmpty)
    }

    @Test func `the words of safe code are left alone`() {
        let code = "// unsafe\nlet safe = \"unsafe\"; unownedExecutor.asUnownedSerialExecutor()"
        #expect(UnsafeCode.unsafeWords(in: .source(code)).isEmpty)
    }

    @Test(arguments: ["final class C: @unchecked Sendable {}", "nonisolated(unsafe) var a = 1"])
    func `an unchecked promise needs a home and a proof`(code: String) {
        #expect(UnsafeCode.uncheckedPromises(in: .source("// proof\n" + code)).count == 1)
        #expect(UnsafeCode.uncheckedPromises(in: .source(code, target: "LinuxIO")).count == 1)
        #expect(UnsafeCode.uncheckedPromises(in: .source("// proof\n" + code, target: "LinuxIO")).isEmpty)
        #expect(UnsafeCode.uncheckedPromises(in: .source(code + "  // proof", target: "OpenSSL")).isEmpty)
    }

    @Test(arguments: ["let a = try! b()", "fatal" + "Error(\"not written\")", "fatal" + "Error(\"unimplemented\")"])
    func `a trap in place of code is found`(code: String) {
        #expect(UnsafeCode.unfinishedCode(in: .source(code)).count == 1)
        #expect(UnsafeCode.unfinishedCode(in: .source("\"\\(\(code))\"")).count == 1)
    }

    @Test func `an honest trap and an optional try are left alone`() {
        #expect(
            UnsafeCode.unfinishedCode(in: .source("try? a(); try !b(); fatalError(\"the clock ran backwards\")"))
                .isEmpty)
    }

    @Test(arguments: ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"])
    func `a loose end is found as a whole word`(word: String) {
        #expect(UnsafeCode.looseEnds(in: "a\n// \(word): later", path: "a").map(\.line) == [2])
        #expect(UnsafeCode.looseEnds(in: "a\(word)b \(word)_c", path: "a").isEmpty)
    }

    @Test(arguments: [
        "Task { f() }", "Task.detached { f() }", "let t = Task<Void, Never> { f() }", "Task(priority: .low) { f() }",
    ])
    func `a task outside the tree is found`(code: String) {
        #expect(UnsafeCode.looseTasks(in: .source(code)).count == 1)
        #expect(UnsafeCode.looseTasks(in: .source(code, target: "CommandProgram")).isEmpty)
        #expect(UnsafeCode.looseTasks(in: .test(code)).isEmpty)
    }

    @Test func `mentions of tasks are left alone`() {
        let code = "func f(t: Task<Int, Never>) -> Task<Int, Never> { t }; Task.isCancelled; await Task.yield()"
        #expect(UnsafeCode.looseTasks(in: .source(code)).isEmpty)
    }
}

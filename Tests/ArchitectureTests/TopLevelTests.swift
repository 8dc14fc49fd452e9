import Testing

struct TopLevelTests {
    @Test func `the top folder holds what it always held`() throws {
        let findings = TopLevel.findings(in: try Repository.topLevelNames())
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `a stray file in the top folder is found`() {
        let names = [".build", ".gitignore", "Package.resolved", "Package.swift", "Sources", "notes.txt"]
        #expect(TopLevel.findings(in: names).map(\.path) == ["notes.txt"])
    }

    @Test func `no two paths differ only by capitals`() {
        let findings = TopLevel.doubles(in: Repository.paths(under: ["Sources", "Tests", "etc"]))
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `paths that differ only by capitals are found`() {
        let paths = ["Sources/A/WakeUp.swift", "Sources/A/Wakeup.swift", "Sources/B/Wakeup.swift"]
        #expect(TopLevel.doubles(in: paths).map(\.path) == ["Sources/A/WakeUp.swift"])
    }

    @Test func `the scan reaches the files it judges`() {
        #expect(Repository.swiftFiles.contains { $0.path == "Tests/ArchitectureTests/TopLevelTests.swift" })
        #expect(Repository.swiftFiles.contains { $0.path == "Sources/pushspool/Pushspool.swift" })
    }
}

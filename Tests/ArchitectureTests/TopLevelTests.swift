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

    @Test func `the scan reaches the files it judges`() {
        #expect(Repository.swiftFiles.contains { $0.path == "Tests/ArchitectureTests/TopLevelTests.swift" })
        #expect(Repository.swiftFiles.contains { $0.path == "Sources/pushspool/Pushspool.swift" })
    }
}

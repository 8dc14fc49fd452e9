import Testing

struct LayeringTests {
    @Test func `every import points down the layers`() {
        let findings = Repository.swiftFiles.flatMap { Layering.findings(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `the manifest declares no dependency that the layers do not allow`() {
        let manifest = SourceFile(path: "Package.swift", text: Repository.text("Package.swift"))
        let declared = Set(Layering.declaredTargets(in: manifest).map(\.name))
        #expect(declared == Set(Layering.allowed.keys))
        let findings = Layering.manifestFindings(in: manifest)
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `Architecture.md names the same modules as the layers`() {
        let page = Repository.text("Sources/PushDaemon/Documentation.docc/Architecture.md")
        let findings = Layering.documentFindings(in: page)
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test func `each member of a type that Architecture.md names is there`() {
        let page = Repository.text("Sources/PushDaemon/Documentation.docc/Architecture.md")
        let names = page.matches(of: /`(?:\w+\/)*([A-Z]\w*)\.([a-z]\w*)(?:\([a-z_:]*\))?`/)
            .map { "\($0.1).\($0.2)" }.filter { !$0.hasSuffix(".swift") }
        #expect(names.count > 15)
        let declared = Set(
            Repository.swiftFiles.filter { $0.path.hasPrefix("Sources/") }.flatMap(\.declarations).flatMap { member in
                member.scopes.map { "\($0.name).\(member.name)" }
            })
        #expect(Set(names).subtracting(declared) == [])
    }

    @Test func `a row that differs from the layers is found, and a target without one`() {
        let rows = Layering.allowed.keys.sorted().dropFirst().map { target in
            let uses = target == "JSON" ? ["Document"] : Layering.allowed[target, default: []].sorted()
            return
                "| | `\(target)` | what it is | \(uses.filter { !Layering.ofSystem.contains($0) }.joined(separator: ", ")) |"
        }
        let messages = Layering.documentFindings(in: rows.joined(separator: "\n")).map(\.message)
        #expect(messages == ["APNSBinary has no row", "the row of JSON differs from Layering.allowed"])
    }

    @Test func `every folder of sources is in the table`() {
        let folders = Set(
            Repository.paths(under: ["Sources"]).compactMap { $0.split(separator: "/").dropFirst().first })
        #expect(Set(folders.map(String.init)) == Set(Layering.allowed.keys).union(Layering.systemLibraries))
    }

    @Test func `the table itself has no circle and no core that looks up`() {
        for (target, modules) in Layering.allowed {
            for module in modules { #expect(Layering.allowed[module]?.contains(target) != true) }
            if Layering.cores.contains(target) { #expect(modules.isSubset(of: Layering.cores), "\(target)") }
        }
        #expect(Layering.allowed.values.allSatisfy { !$0.contains("Foundation") })
    }

    @Test(arguments: [
        ("Document", "import Glibc"), ("Document", "package import JSON"), ("JSON", "@preconcurrency import YAML"),
        ("Gateways", "import struct Foundation.Date"), ("Gateways", "import GatewaySimulator"),
        ("GatewaySimulator", "public import Gateways"), ("PushDaemon", "import Glibc"), ("Nowhere", "let a = 1"),
    ])
    func `an import up or across the layers is found`(target: String, code: String) {
        #expect(Layering.findings(in: .source("\n" + code, target: target)).count == 1)
    }

    @Test func `an import down the layers is allowed`() {
        #expect(Layering.findings(in: .source("package import Document\nimport CYAML", target: "YAML")).isEmpty)
    }

    @Test func `a dependency up the layers is found in a manifest`() {
        let text = """
            targets: [layer("Document", uses: ["JSON"]), layer("PushModel"),
            .executableTarget(name: "pushspool", dependencies: [logging, argumentParser, "Foundation"])]
            """
        let findings = Layering.manifestFindings(in: SourceFile(path: "Package.swift", text: text))
        #expect(
            findings.map(\.message) == [
                "Document may not depend on JSON", "pushspool may not depend on Foundation",
            ])
    }
}

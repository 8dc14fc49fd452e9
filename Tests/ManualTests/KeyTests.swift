import Document
import Foundation
import PushDaemon
import TestSupport
import Testing

/// The keys of the configuration: README, pushspool.yaml(5) and the program know the same.
struct KeyTests {
    /// One of the two kinds of files.
    enum File: String, CaseIterable {
        case daemon = "### pushspool.yaml\n"
        case app = "### apps/&lt;app&gt;.yaml\n"

        /// The part of pushspool.yaml(5) about it.
        var heading: String {
            switch self {
            case .daemon: ".SH PUSHSPOOL.YAML\n"
            case .app: ".SH APPS/*.YAML\n"
            }
        }
    }

    @Test(arguments: File.allCases)
    func `the README tells every key that the program knows, and no other`(file: File) throws {
        let told = Set(try Self.rows(file).flatMap(\.keys))
        let known = try Self.known(file, sections: Self.sections(of: told))
        #expect(known.subtracting(told) == [])
        #expect(told.subtracting(known) == [])
        #expect(known.count > 15)
    }

    @Test(arguments: File.allCases)
    func `pushspool.yaml(5) has every key and default of the README, and no other`(file: File) throws {
        let part = try #require(try Manual.page("pushspool.yaml.5").components(separatedBy: file.heading).last)
            .components(separatedBy: "\n.SH ")[0]
        var entries: [String: String] = [:]
        for entry in part.components(separatedBy: ".TP\n").dropFirst() {
            let (head, text) = (entry.prefix { $0 != "\n" }, entry.components(separatedBy: ".PP\n")[0])
            for key in head.matches(of: #/\\fB(.*?)\\fR/#) { entries[String(key.output.1)] = text }
        }
        let rows = try Self.rows(file)
        #expect(Set(entries.keys) == Set(rows.flatMap(\.keys)))
        for row in rows where !row.fallback.isEmpty && !row.fallback.contains("required") {
            for key in row.keys { #expect(entries[key]?.contains("Default: \(row.fallback).") == true, "\(key)") }
        }
    }

    /// What the README's table says of some keys.
    private struct Row {
        let keys: [String]
        let fallback: String
    }

    private static func section(_ file: File) throws -> String {
        let part = try #require(try Manual.text("README.md").components(separatedBy: file.rawValue).last)
        return part.components(separatedBy: "\n##")[0]
    }

    private static func rows(_ file: File) throws -> [Row] {
        try section(file).split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
            let keys = quoted(in: cells[0])
            let isAsAbove = cells[1] == "as above"
            return Row(keys: keys, fallback: isAsAbove ? "" : cells.last.map { $0.replacing("`", with: "") } ?? "")
        }
    }

    /// What stands between two backticks.
    private static func quoted(in text: String) -> [String] {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) }
    }

    /// The mappings that hold some of these keys: of `a.b.c` these are `a` and `a.b`.
    private static func sections(of keys: Set<String>) -> Set<String> {
        var sections: Set<String> = []
        for key in keys {
            let words = key.split(separator: ".")
            for count in 1..<max(words.count, 1) { sections.insert(words[..<count].joined(separator: ".")) }
        }
        return sections
    }

    /// A mapping with an unknown key, and in it those of `sections` that lie in it, as YAML in one line.
    private static func mapping(at path: String, _ sections: Set<String>) -> String {
        let inner = sections.filter { $0.hasPrefix(path) && !$0.dropFirst(path.count).contains(".") }.map {
            ", \($0.dropFirst(path.count)): \(mapping(at: $0 + ".", sections))"
        }
        return "{qqqqqqqq: 1\(inner.joined())}"
    }

    /// What the program says it knows when it is asked for what it cannot.
    private static func known(_ file: File, sections: Set<String>) throws -> Set<String> {
        let folder = try TemporaryDirectory()
        try folder.directory.put("x.yaml", mapping(at: "", sections) + "\n")
        let document = try ConfigurationFile.parse(folder.path + "/x.yaml")
        var report = Report()
        switch file {
        case .daemon: _ = DaemonConfiguration(document, report: &report)
        case .app: _ = AppConfiguration(name: "x", document, report: &report)
        }
        var keys: Set<String> = []
        for finding in report.inOrder where finding.message.contains("qqqqqqqq") {
            let names = try #require(finding.hint?.components(separatedBy: "known here: ").last)
            let prefix = finding.path.map { $0.isEmpty ? "" : $0 + "." } ?? ""
            for name in names.components(separatedBy: ", ") { keys.insert(prefix + name) }
        }
        return keys.subtracting(sections)
    }
}

import ArgumentParser
import Foundation
import Testing

@testable import pushspool

/// The articles for operators: their commands exist, and the texts that they quote are the program's.
struct ArticleTests {
    private static let catalog = "Sources/PushDaemon/Documentation.docc/"
    private static let articles = [
        "AppleKey", "Containers", "FromGorush", "FromPyapns", "FromRpush", "Glossary", "Operations", "ServiceAccount",
        "Troubleshooting",
    ]

    @Test(arguments: articles)
    func `an article is named by the README and by the catalog's first page`(article: String) throws {
        #expect(try Manual.text("README.md").contains("](\(Self.catalog)\(article).md)"))
        #expect(try Manual.text(Self.catalog + "PushDaemon.md").contains("- <doc:\(article)>\n"))
    }

    @Test(arguments: articles)
    func `every command in an article can be parsed`(article: String) throws {
        let text = try Manual.text(Self.catalog + article + ".md")
        let blocks = try Manual.fences(Self.catalog + article + ".md").flatMap { $0.text.split(separator: "\n") }
        for line in blocks + Self.spans(in: text).map({ Substring($0) }) {
            for words in Self.commands(in: line) {
                // A command alone is its name.
                if words.count == 1 {
                    let isKnown = Pushspool.configuration.subcommands.contains { $0._commandName == words[0] }
                    #expect(isKnown || words[0] == "--version", "\(line)")
                } else {
                    #expect(throws: Never.self, "\(line)") { try Pushspool.parseAsRoot(words) }
                }
            }
        }
    }

    @Test func `the symptoms that Troubleshooting quotes are texts of the program`() throws {
        let sources = try Self.sources()
        let rows = try Self.rows(of: Self.catalog + "Troubleshooting.md")
        #expect(rows.count >= 25)
        for row in rows {
            #expect(row.count == 3 && !Self.spans(in: row[1]).isEmpty, "\(row)")
            for quote in Self.spans(in: row[0]) where !quote.hasPrefix("pushspool ") {
                #expect(sources.contains(quote), "\(quote)")
            }
        }
    }

    // MARK: Reading

    /// The words after `pushspool` of each such command in a line of a shell.
    private static func commands(in line: Substring) -> [[String]] {
        var commands: [[String]] = []
        for part in line.split(separator: #/\|\|?|&&|;|>>?/#) {
            var words: [String] = part.split(separator: " ").map { String($0).replacing("'", with: "") }
            if words.first == "$" { words.removeFirst() }
            if words.starts(with: ["sudo", "-u", "pushspool"]) { words.removeFirst(3) }
            if words.first == "pushspool", words.count > 1 { commands.append(Array(words.dropFirst())) }
        }
        return commands
    }

    /// The inline code of a text.
    private static func spans(in text: some StringProtocol) -> [String] {
        text.split(separator: "\n").flatMap { line in
            line.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
                .map { String($0.element) }
        }
    }

    /// The rows of all tables of a page, without their heads.
    private static func rows(of path: String) throws -> [[String]] {
        try Manual.text(path).split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| you see ") }
            .map { $0.dropFirst(2).dropLast(2).components(separatedBy: " | ") }
    }

    /// The text of all Swift files of the program.
    private static func sources() throws -> String {
        let root = Manual.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var text = ""
        for case let file as URL in files where file.pathExtension == "swift" {
            text += try String(contentsOf: file, encoding: .utf8)
        }
        return text
    }
}

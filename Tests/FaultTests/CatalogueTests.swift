import Foundation
import TestSupport
import Testing

/// The catalogue in `README.md` beside this file: complete, and true as far as names go.
@Suite struct CatalogueTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The rows of the catalogue: number, name, and where its test is.
    private static let rows: [[String]] = {
        let text = (try? String(contentsOf: folder.appendingPathComponent("README.md"), encoding: .utf8)) ?? ""
        return text.components(separatedBy: "\n").filter { $0.prefixMatch(of: /\| [A-J]\d/) != nil }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
            // The invariants have a table, too, of two columns.
            .filter { $0.count == 3 }
    }()

    /// All tests of the repository, by the name of their file.
    private static let sources: [String: String] = {
        let all = FileManager.default.enumerator(
            at: folder.deletingLastPathComponent(), includingPropertiesForKeys: nil)
        var sources: [String: String] = [:]
        for case let url as URL in all ?? .init() where url.pathExtension == "swift" {
            sources[url.deletingPathExtension().lastPathComponent, default: ""] +=
                (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        }
        return sources
    }()

    @Test func `every number of the catalogue has a row`() {
        let numbers = Self.rows.map { Int($0[0].dropFirst()) ?? 0 }
        #expect(numbers == Array(1...79))
    }

    @Test func `every row names a test that is there, or says why there is none`() {
        for row in Self.rows {
            let place = row[2]
            let suites = place.matches(of: /`([A-Za-z]+Tests)`/).map { String($0.output.1) }
            #expect(!suites.isEmpty || place.hasPrefix("not here: "), "\(row)")
            for suite in suites { #expect(Self.sources[suite] != nil, "\(row[0]): there is no \(suite)") }
            for title in place.matches(of: /\*([^*]+)\*/).map({ String($0.output.1) }) {
                let isThere = suites.contains { Self.sources[$0]?.contains(title) == true }
                #expect(isThere, "\(row[0]): no test in \(suites) is called '\(title)'")
            }
        }
    }

    @Test func `what is tested here reports its number`() throws {
        let files = FileManager.default.enumerator(at: Self.folder, includingPropertiesForKeys: nil)
        let texts = (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }.map {
            (try? String(contentsOf: $0, encoding: .utf8)) ?? ""
        }
        for row in Self.rows where try row[2].prefixMatch(of: Regex("`\\w+Tests`")) != nil {
            let isReported = texts.contains { $0.contains("\"\(row[0]) ") || $0.contains("\"\(row[0])\"") }
            #expect(isReported, "no test reports \(row[0]) \(row[1])")
        }
    }

    @Test func `what is tested elsewhere reports its number and what it checks`() {
        for row in Self.rows {
            let suites = row[2].matches(of: /`([A-Za-z]+Tests)`/).map { String($0.output.1) }
            let texts = suites.filter { !Self.isHere($0) }.compactMap { Self.sources[$0] }
            for text in texts { #expect(Self.reports(text[...], row[0]), "\(row[0]): one of \(suites) is silent") }
            for title in row[2].matches(of: /\*([^*]+)\*/).map({ String($0.output.1) }) {
                for text in texts {
                    guard let name = text.range(of: title),
                        let test = text.range(
                            of: "@Test", options: .backwards, range: text.startIndex..<name.lowerBound)
                    else { continue }
                    #expect(Self.reports(text[test.upperBound..<name.lowerBound], row[0]), "\(row[0]): '\(title)'")
                }
            }
        }
    }

    /// Whether a test has the trait for this row.
    private static func reports(_ text: Substring, _ number: String) -> Bool {
        text.components(separatedBy: ".catalogue(").dropFirst().contains {
            $0.drop(while: \.isWhitespace).hasPrefix("\"\(number) ")
        }
    }

    private static func isHere(_ suite: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(suite + ".swift").path)
    }
}

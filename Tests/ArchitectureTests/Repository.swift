import Foundation

/// The checkout that these tests were built from.
enum Repository {
    /// The top folder.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every Swift file under `Sources` and `Tests`, scanned once for all checks.
    static let swiftFiles: [SourceFile] = paths(under: ["Sources", "Tests"]).filter { $0.hasSuffix(".swift") }
        .map { SourceFile(path: $0, text: text($0)) }

    /// Every file of the given folders relative to the top, build folders, fixtures and fuzzed bytes left out, in order.
    static func paths(under folders: [String]) -> [String] {
        folders.flatMap { folder in
            let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
            return (names?.compactMap { $0 as? String } ?? []).map { folder + "/" + $0 }
        }
        .filter { path in !["/.build", "/Fixtures/", "/Corpus/"].contains { path.contains($0) } }.sorted()
    }

    /// The text of one file; empty when there is none or it is not text.
    static func text(_ path: String) -> String {
        (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
    }

    /// The names in the top folder.
    static func topLevelNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.path).sorted()
    }
}

import Foundation
import PushModel
import Testing

/// The checkout's documents, and the examples in them.
enum Manual {
    /// An example of a job.
    struct Example: Sendable, CustomTestStringConvertible {
        let source: String
        let fileName: String
        let text: String
        /// Whether the document says that it is wrong.
        let isWrong: Bool
        /// The carrier of the app that it is for.
        var carrier = Carrier.http2

        var testDescription: String { "\(source): \(fileName)" }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// A manual page's text without the escapes of its dashes and quotes.
    static func page(_ name: String) throws -> String {
        [(#"\-"#, "-"), (#"\(aq"#, "'"), (#"\(ga"#, "`")].reduce(try text("etc/man/" + name)) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    /// The names of the pages.
    static func pages() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "etc/man").path).sorted()
    }

    /// The guides from other programs.
    static let guides = ["FromGorush", "FromPyapns", "FromRpush"].map {
        "Sources/PushDaemon/Documentation.docc/\($0).md"
    }

    /// The fenced blocks of a page, each with the words behind its first fence. Those in a list are indented.
    static func fences(_ path: String) throws -> [(words: String, text: String)] {
        let parts = try text(path).replacing(#/\n {3}/#, with: "\n").components(separatedBy: "\n```")
        return stride(from: 1, to: parts.count, by: 2).map { index in
            let lines = parts[index].split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(lines[0]), lines.count > 1 ? String(lines[1]) + "\n" : "")
        }
    }

    /// The jobs in the README.
    static func readmeExamples() throws -> [Example] {
        try fences("README.md").enumerated().compactMap { number, fence in
            let words = fence.words.split(separator: " ")
            guard let form = words.first, ["json", "yaml", "jsonl"].contains(form),
                !["result", "app", "door"].contains(words.last)
            else {
                return nil
            }
            return Example(
                source: "README.md", fileName: "example-\(number).\(form)", text: fence.text,
                isWrong: words.contains("wrong"), carrier: words.contains("fcm") ? .fcm : .http2)
        }
    }

    /// The jobs in pushspool-job(5): each stands between `.nf` and `.fi`, behind its name.
    static func pageExamples() throws -> [Example] {
        let parts = try page("pushspool-job.5").components(separatedBy: "\n.PP\n.nf\n")
        return zip(parts, parts.dropFirst()).map { before, behind in
            let introduction = before.components(separatedBy: ".PP\n").last ?? ""
            let name = introduction.components(separatedBy: ".IR ").last?.components(separatedBy: " ").first ?? ""
            let text = behind.components(separatedBy: "\n.fi").first ?? ""
            return Example(
                source: "pushspool-job.5", fileName: name, text: text + "\n",
                isWrong: introduction.contains("Refused:"),
                carrier: introduction.contains("For an FCM app:") ? .fcm : .http2)
        }
    }
}

import Document
import JSON

/// A `<name>.result.json` in words.
package enum ResultSummary {
    /// How many faults of a file are told.
    private static let faultLimit = 20

    /// Returns the counts and the reasons, the first faults of the file on lines of their own.
    package static func text(of result: [UInt8]) -> String {
        var parser = JSON.Parser()
        guard let root = try? parser.parse(result).root else { return "see its result file" }
        var parts: [String] = []
        if let code = root["code"]?.string { parts.append(code) }
        for member in root["counts"]?.members ?? root.members where (member.value.integer ?? 0) > 0 {
            let (count, word) = (member.value.text, member.key.text)
            parts.append("\(count) \(count == "1" && word == "notifications" ? "notification" : word)")
        }
        guard let diagnostics = root["diagnostics"] else {
            if let why = root["why"]?.string { parts.append(why) }
            return parts.joined(separator: ", ")
        }
        var lines = [parts.joined(separator: ", ")] + diagnostics.elements.prefix(faultLimit).flatMap(Self.lines)
        let more = (root["errors"]?.integer ?? 0) + (root["warnings"]?.integer ?? 0) - faultLimit
        if more > 0 { lines.append("  … and \(more) more in its result file") }
        return lines.joined(separator: "\n")
    }

    private static func lines(of diagnostic: Node) -> [String] {
        let place = [diagnostic["line"], diagnostic["column"]].compactMap { $0?.text }.joined(separator: ":")
        let words = [place, diagnostic["path"]?.text ?? "", diagnostic["message"]?.text ?? ""].filter { !$0.isEmpty }
        let fault = "  \(words.joined(separator: ": "))"
        return [fault] + (diagnostic["hint"]?.string.map { ["  hint: \($0)"] } ?? [])
    }
}

package import Document
import JSON

/// Describes a `<name>.result.json` in text.
package enum ResultSummary {
    /// The most faults of a file that are shown.
    private static let faultLimit = 20

    /// Returns the counts and the reasons, with the first faults of the file on separate lines.
    ///
    /// Removes all control characters, because any user may have written the result file.
    package static func text(of result: [UInt8]) -> String {
        var parser = JSON.Parser()
        guard let root = try? parser.parse(result).root else { return "see its result file" }
        var parts: [String] = []
        if let code = root["code"]?.string { parts.append(code) }
        for member in root["counts"]?.members ?? root.members where (member.value.integer ?? 0) > 0 {
            let (count, word) = (member.value.text, member.key.text)
            parts.append("\(count) \(count == "1" && word == "notifications" ? "notification" : word)")
        }
        guard root["diagnostics"] != nil else {
            if let why = root["why"]?.string { parts.append(why) }
            return parts.joined(separator: ", ").withoutControls
        }
        let lines = [parts.joined(separator: ", ")] + faults(in: root, limit: faultLimit)
        return lines.map { $0.withoutControls }.joined(separator: "\n")
    }

    /// Returns the first faults listed in a result file, each with its hint on a second line, and at the end how many
    /// more there are.
    package static func faults(in result: Node, limit: Int) -> [String] {
        guard let diagnostics = result["diagnostics"] else { return [] }
        let told: [String] = diagnostics.elements.prefix(limit).flatMap(Self.lines)
        let more = faultCount(in: result, "errors") + faultCount(in: result, "warnings") - limit
        return more > 0 ? told + ["  … and \(more) more in its result file"] : told
    }

    /// Clamps the number to more faults than any file has, so that a sum of two cannot overflow.
    private static func faultCount(in result: Node, _ key: String) -> Int {
        min(max(0, result[key]?.integer ?? 0), 1 << 40)
    }

    private static func lines(of diagnostic: Node) -> [String] {
        let place = [diagnostic["line"], diagnostic["column"]].compactMap { $0?.text }.joined(separator: ":")
        let words = [place, diagnostic["path"]?.text ?? "", diagnostic["message"]?.text ?? ""].filter { !$0.isEmpty }
        let fault = "  \(words.joined(separator: ": "))"
        return [fault] + (diagnostic["hint"]?.string.map { ["  hint: \($0)"] } ?? [])
    }
}

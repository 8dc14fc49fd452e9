import Document
import JSON

/// A `<name>.result.json` in words.
package enum ResultSummary {
    /// Returns the counts and the reasons, faults of the file on lines of their own.
    package static func text(of result: [UInt8]) -> String {
        var parser = JSON.Parser()
        guard let root = try? parser.parse(result).root else { return "see its result file" }
        var parts: [String] = []
        if let code = root["code"]?.string { parts.append(code) }
        for member in root["counts"]?.members ?? root.members where (member.value.integer ?? 0) > 0 {
            parts.append("\(member.value.text) \(member.key.text)")
        }
        guard let diagnostics = root["diagnostics"] else {
            if let why = root["why"]?.string { parts.append(why) }
            return parts.joined(separator: ", ")
        }
        return ([parts.joined(separator: ", ")] + diagnostics.elements.flatMap(lines)).joined(separator: "\n")
    }

    private static func lines(of diagnostic: Node) -> [String] {
        let place = "\(diagnostic["line"]?.text ?? "?"):\(diagnostic["column"]?.text ?? "?")"
        let fault = "  \(place): \(diagnostic["message"]?.text ?? "")"
        return [fault] + (diagnostic["hint"]?.string.map { ["  hint: \($0)"] } ?? [])
    }
}

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
        for member in root["counts"]?.members ?? root.members where member.value.integer != nil {
            parts.append("\(member.value.text) \(member.key.text)")
        }
        if let why = root["why"]?.string { parts.append(why) }
        guard let diagnostics = root["diagnostics"] else { return parts.joined(separator: ", ") }
        for diagnostic in diagnostics.elements {
            let place = "\(diagnostic["line"]?.text ?? "?"):\(diagnostic["column"]?.text ?? "?")"
            parts.append("\n  \(place): \(diagnostic["message"]?.text ?? "")")
        }
        return parts.joined(separator: ", ")
    }
}

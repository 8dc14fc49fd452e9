import Document
import JSON
import SpoolClient

/// Waits for jobs to be over by looking where they are.
struct JobAwaiting {
    /// How a job ended.
    enum End {
        /// In `done/`, everything accepted.
        case accepted
        /// Anything else, in words.
        case other(String)
        /// Not by the deadline.
        case notYet
    }

    let app: String
    let spool: String
    let until: ContinuousClock.Instant

    /// Waits for one job.
    ///
    /// - Throws: `SpoolClientError`: the folders cannot be read.
    func end(of name: String) async throws -> End {
        let locator = try JobLocator(app: app, spool: spool)
        var pause = Duration.milliseconds(20)
        while true {
            switch try locator.place(of: name) {
            case .done(_, let result?): return .other("done, but " + summary(of: result))
            case .failed(_, let result?): return .other("failed: " + summary(of: result))
            case .held: return .other("held in hold/")
            case .done(_, nil):
                // A result file appears right behind its job.
                try await Task.sleep(for: .milliseconds(50))
                if case .done(_, nil) = try locator.place(of: name) { return .accepted }
            case .failed(_, nil), .waiting, nil:
                guard ContinuousClock.now < until else { return .notYet }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .milliseconds(500))
            }
        }
    }

    /// The counts and the reason of a result file.
    private func summary(of result: [UInt8]) -> String {
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
        var lines = [parts.joined(separator: ", ")]
        for diagnostic in diagnostics.elements {
            let place = "\(diagnostic["line"]?.text ?? "?"):\(diagnostic["column"]?.text ?? "?")"
            lines.append("  \(place): \(diagnostic["message"]?.text ?? "")")
            if let hint = diagnostic["hint"]?.string { lines.append("  hint: \(hint)") }
        }
        return lines.joined(separator: "\n")
    }
}

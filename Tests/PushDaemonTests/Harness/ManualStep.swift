import Foundation

/// A line for a shell in the examples of pushspool(1), and what it prints.
struct ManualStep: Sendable {
    /// The line, without its prompt.
    let line: String
    /// What is printed, shortened where a line is `[...]`.
    let output: [String]

    /// The steps of all examples, in the order of the page.
    static func all() throws -> [ManualStep] {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page = try String(contentsOf: root.appendingPathComponent("etc/man/pushspool.1"), encoding: .utf8)
        let behind = page.components(separatedBy: "\n.SH EXAMPLES\n").last ?? ""
        let examples = behind.components(separatedBy: "\n.SH ")[0]
        return examples.components(separatedBy: "\n.nf\n").dropFirst().flatMap { block in
            steps(in: plain(block.components(separatedBy: "\n.fi")[0]))
        }
    }

    private static func steps(in block: String) -> [ManualStep] {
        var steps: [ManualStep] = []
        for line in block.components(separatedBy: "\n") {
            if line.hasPrefix("$ ") {
                steps.append(ManualStep(line: String(line.dropFirst(2)), output: []))
            } else if let step = steps.popLast() {
                steps.append(ManualStep(line: step.line, output: step.output + [line]))
            }
        }
        return steps
    }

    /// Text without the escapes of roff.
    private static func plain(_ text: String) -> String {
        [(#"\-"#, "-"), (#"\(aq"#, "'"), (#"\(ga"#, "`"), (#"\e"#, #"\"#)].reduce(text) { text, escape in
            text.replacingOccurrences(of: escape.0, with: escape.1)
        }
    }

    // MARK: What a run may differ in

    /// Times, ids, ports and what else is another in each run, and what stands in its stead. Counts of jobs and notifications
    /// and the lengths of files are no such thing, but how far the slow job of the examples is.
    private static let masks = [
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME"), ("[0-9]{8}T[0-9]{6}[.][0-9]{6}Z", "TIME"),
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}", "DAY"),
        ("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
        ("-[0-9a-f]{16}[.]", "-RANDOM."), ("\\b[0-9A-HJKMNP-TV-Z]{26}\\b", "ID"),
        ("localhost:[0-9]+", "localhost:PORT"), ("process [0-9]+", "process NUMBER"),
        ("device [0-9]+ inode [0-9]+", "device NUMBER inode NUMBER"), ("epoch [0-9]+|[0-9]+[+][0-9]+", "EPOCH"),
        ("\\b[0-9]+([.][0-9]+)? (ms|s|min|h|d)\\b", "LENGTH"), ("\\[[#-]{24}\\]", "BAR"),
        ("[0-9]+ %  ?[0-9]+ of", "SHARE of"), ("\\b[0-9]+ of 1000\\b", "SOME of 1000"),
        ("\\b[0-9]+ unsent\\b", "SOME unsent"), ("\\b[0-9]+/s\\b", "RATE"),
        ("^ *[0-9]+ (?=[A-Z]{3}|no valid)", "PLACE "),
    ]

    /// A line of output in the form in which every run has it: columns may be wider or narrower.
    private static func form(_ line: String) -> String {
        let masked = masks.reduce(line) { line, mask in
            line.replacingOccurrences(of: mask.0, with: mask.1, options: .regularExpression)
        }
        return masked.split(separator: " ").joined(separator: " ")
    }

    /// The forms of lines of output.
    static func forms(_ text: String) -> [String] {
        var lines = text.replacingOccurrences(of: "\r\n", with: "\n").components(separatedBy: "\n")
        if lines.last == "" { lines.removeLast() }
        return lines.map(form)
    }

    /// Whether this is what was printed: all of it, or the lines that are not left out, in their order.
    func isMet(by text: String) -> Bool {
        let (wanted, found) = (output.map(Self.form), Self.forms(text))
        guard wanted.contains("[...]") else { return wanted == found }
        var rest = found[...]
        for line in wanted where line != "[...]" {
            guard let index = rest.firstIndex(of: line) else { return false }
            rest = rest[(index + 1)...]
        }
        return true
    }
}

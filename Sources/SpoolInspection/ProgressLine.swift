import LinuxIO
import SpoolModel

/// A line with the progress of a job, rewritten in place on a terminal.
struct ProgressLine {
    private static let barWidth = 24
    private var isShown = false

    /// Creates a line that is not shown yet.
    init() {}

    /// Shows the progress of a job, if standard error is a terminal.
    mutating func show(_ job: SpoolStatus.Job) {
        guard StandardStream.error.isTerminal else { return }
        isShown = true
        let columns = StandardStream.error.terminalSize?.columns ?? 80
        // Leave the last column free: a line that reaches it could not be overwritten.
        StandardStream.error.write(Array("\r\(Self.text(of: job, columns: columns - 1))\u{1B}[K".utf8))
    }

    /// Clears the line.
    mutating func clear() {
        guard isShown else { return }
        isShown = false
        StandardStream.error.write(Array("\r\u{1B}[K".utf8))
    }

    /// The text `[######------------------]  25 %  250000 of 1000000  31000/s  24 s left`, followed by the job's name
    /// if given. Text that does not fit the columns is shortened: first the bar is dropped, then everything but the
    /// percentage.
    static func text(of job: SpoolStatus.Job, name: String? = nil, columns: Int = .max) -> String {
        let full = Int(job.share * Double(barWidth))
        let bar = "[" + String(repeating: "#", count: full) + String(repeating: "-", count: barWidth - full) + "]"
        let share = "\(Int(job.share * 100)) %"
        let forms = [[bar, job.inWords], [job.inWords], [share]].map { words in
            (words + (name.map { [$0] } ?? [])).joined(separator: "  ")
        }
        let fitting = forms.first { $0.count <= columns } ?? forms[forms.count - 1]
        return String(fitting.prefix(max(0, columns)))
    }
}

extension SpoolStatus.Job {
    /// The text `25 %  250000 of 1000000  31000/s  24 s left`, as far as it is known, and why the job waits.
    var inWords: String {
        var words = ["\(Int(share * 100)) %", "\(settledCount) of \(count)"]
        if let rate { words.append("\(rate)/s") }
        if let remaining { words.append("\(remaining.inWords) left") }
        if let reason { words.append(reason) }
        return words.joined(separator: "  ")
    }
}

extension Duration {
    /// The text `42 s`, `17 min`, `5 h` or `12 d`: in the largest unit of which the duration has at least two, rounded
    /// down.
    var inWords: String {
        let seconds = max(0, components.seconds)
        for (unit, name) in [(86_400, "d"), (3_600, "h"), (60, "min")] as [(Int64, String)] where seconds >= 2 * unit {
            return "\(seconds / unit) \(name)"
        }
        return "\(seconds) s"
    }
}

import LinuxIO
import SpoolModel

/// A line that says how far a job is, and is written again and again in the same place of a terminal.
struct ProgressLine {
    private static let barWidth = 24
    private var isShown = false

    /// Nothing is shown yet.
    init() {}

    /// Shows how far a job is, if somebody is looking.
    mutating func show(_ job: SpoolStatus.Job) {
        guard StandardStream.error.isTerminal else { return }
        isShown = true
        let columns = StandardStream.error.terminalSize?.columns ?? 80
        // What reaches the last column could not be written over.
        StandardStream.error.write(Array("\r\(Self.text(of: job, columns: columns - 1))\u{1B}[K".utf8))
    }

    /// Clears the line.
    mutating func clear() {
        guard isShown else { return }
        isShown = false
        StandardStream.error.write(Array("\r\u{1B}[K".utf8))
    }

    /// `[######------------------]  25 %  250000 of 1000000  31000/s  24 s left`, and the job's name behind that if it is
    /// wanted: as much of it as there are columns for, the bar first to go, then what can be reckoned.
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
    /// `25 %  250000 of 1000000  31000/s  24 s left`, as far as that is known.
    var inWords: String {
        var words = ["\(Int(share * 100)) %", "\(settledCount) of \(count)"]
        if let rate { words.append("\(rate)/s") }
        if let remaining { words.append("\(remaining.inWords) left") }
        return words.joined(separator: "  ")
    }
}

extension Duration {
    /// `42 s`, `17 min`, `5 h`, `12 d`: the largest unit that it has two of, rounded down.
    var inWords: String {
        let seconds = max(0, components.seconds)
        for (unit, name) in [(86_400, "d"), (3_600, "h"), (60, "min")] as [(Int64, String)] where seconds >= 2 * unit {
            return "\(seconds / unit) \(name)"
        }
        return "\(seconds) s"
    }
}

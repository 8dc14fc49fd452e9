package import Document

/// What one pass over a whole job file found.
package struct JobSummary: Sendable {
    /// What the job says about itself.
    package var header: JobHeader
    /// How many recipients it has, good or bad.
    package var recipientCount: Int
    /// How many of them nothing can be sent to.
    package var rejectedCount: Int
    /// Everything there is to say about the file.
    package var report: Report
    /// Why the job fails before anything is sent, if it does.
    package var failure: ResultCode?
    /// The fault that made it fail.
    package var fault: Diagnostic?
    /// Whether the file says itself that it is whole: a closing bracket, `...`, or the number that `count` promised.
    package var isSealed: Bool
    /// Whether its last byte ends a line.
    package var endsInNewline: Bool
    /// What tells the file from others, if jobs are compared by their files (`intake.dedupe_content`).
    package var file: FileSign?

    /// What is missing of a file that was written in place; `nil` if it shows that it is whole.
    package var doubt: Diagnostic? {
        let remedy = "or write it elsewhere and rename it into new/"
        if !endsInNewline {
            return Diagnostic(
                "the last line does not end, so the rest of the file may be missing",
                hint: "end it with a line feed, \(remedy)")
        }
        guard !isSealed else { return nil }
        return Diagnostic(
            "nothing in the file says that it is whole",
            hint: "give `count`, or end YAML with a line of `...`, \(remedy)")
    }

    /// Has the job fail for how its file came about, and says why, unless it fails already.
    package mutating func fail(_ code: ResultCode) {
        guard failure == nil else { return }
        failure = code
        guard code == .incomplete, let doubt else { return }
        fault = doubt
        report.add(doubt)
    }

    /// What others may have in common with it that are the same.
    package var signs: [JobSign] {
        var signs: [JobSign] = []
        if let ref = header.ref { signs.append(.ref(ref)) }
        if let file { signs.append(.file(file.sum)) }
        return signs
    }
}

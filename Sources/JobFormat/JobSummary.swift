package import Document

/// The result of one pass over a whole job file.
package struct JobSummary: Sendable {
    /// The settings of the job.
    package var header: JobHeader
    /// How many recipients the job has, valid or not.
    package var recipientCount: Int
    /// How many of them cannot be sent to.
    package var rejectedCount: Int
    /// The errors and warnings of the file.
    package var report: Report
    /// Why the job fails before anything is sent; `nil` if it does not.
    package var failure: ResultCode?
    /// The fault that makes the job fail.
    package var fault: Diagnostic?
    /// Whether the file declares that it is complete: a closing bracket, `...`, or as many recipients as `count` says.
    package var isSealed: Bool
    /// Whether its last byte is a newline.
    package var endsInNewline: Bool
    /// The identity of the file, if `intake.dedupe_content` compares jobs by content.
    package var file: FileSign?

    /// The missing evidence that a file written in place is complete; `nil` if it proves it.
    package var doubt: Diagnostic? {
        let remedy = "or write it elsewhere and rename it into new/"
        if !endsInNewline {
            return Diagnostic(
                "the last line has no line feed, so the file may be incomplete",
                hint: "end it with a line feed, \(remedy)")
        }
        guard !isSealed else { return nil }
        return Diagnostic(
            "nothing in the file marks its end, so it may be incomplete",
            hint: "add `count`, or end YAML with a line of `...`, \(remedy)")
    }

    /// Fails the job because of how its file arrived, and adds the reason; does nothing if the job fails already.
    package mutating func fail(_ code: ResultCode) {
        guard failure == nil else { return }
        failure = code
        guard code == .incomplete, let doubt else { return }
        fault = doubt
        report.add(doubt)
    }

    /// The signs by which an equal job is recognized.
    package var signs: [JobSign] {
        var signs: [JobSign] = []
        if let ref = header.ref { signs.append(.ref(ref)) }
        if let file { signs.append(.file(file.sum)) }
        return signs
    }
}

import LinuxIO

/// Evaluates the test move through an app's folders.
struct MoveJudgement {
    /// The facts.
    let facts: MoveProbe

    /// The findings.
    var findings: [DoctorFinding] {
        var book = FindingBook(.filesystem, of: facts.app)
        guard let refusal = facts.refusal else {
            book.ok("a test file moved from tmp/ to its archive")
            return book.findings
        }
        if refusal.isOtherFilesystem {
            book.fault(
                "a test file cannot be moved from one of its folders to the next: \(refusal)",
                hint: "keep new, work, hold, done and failed on one filesystem, without mounts or subvolumes between")
        } else if refusal.isOutOfSpace {
            book.fault("its folders are full: \(refusal)", hint: "free up space on that volume")
        } else {
            book.fault(
                "a test file cannot be moved through its folders: \(refusal)",
                hint: "make them folders of the daemon's user, on a writable filesystem")
        }
        return book.findings
    }
}

import LinuxIO

/// Evaluates the test move through an app's folders.
struct WayJudgement {
    /// The facts.
    let facts: WayFacts

    /// The findings.
    var findings: [DoctorFinding] {
        var book = FindingBook(.filesystem, of: facts.app)
        guard let refusal = facts.refusal else {
            book.ok("a file goes all the way from tmp/ to its archive")
            return book.findings
        }
        if refusal.isOtherFilesystem {
            book.fault(
                "a file cannot go from one of its folders to the next: \(refusal)",
                hint: "keep new, work, hold, done and failed on one filesystem, without mounts or subvolumes between")
        } else if refusal.isOutOfSpace {
            book.fault("its folders are full: \(refusal)", hint: "make room on that volume")
        } else {
            book.fault(
                "a file cannot go through its folders: \(refusal)",
                hint: "make them folders of the daemon's user, on a filesystem that can be written to")
        }
        return book.findings
    }
}

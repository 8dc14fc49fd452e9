import JobFormat
import JobOperations
import JournalModel
import LinuxIO
import PushModel
import SpoolStore

/// The jobs of an app's earlier run that have not been taken over yet.
final class JobsToRecover {
    /// The journal's records of jobs that have not been found yet.
    var missing: [JobID: JournalJob]
    /// The jobs found in `work/`, in reverse order.
    var found: [JobToRecover] = []
    /// The jobs being taken over.
    var takingUp: [JobToRecover] = []
    /// Whether `work/` has been listed, and when to search again for missing jobs.
    var hasLookedIntoWork = false
    var nextLook = Moment.zero
    /// The first record that can be published while earlier ones, of an earlier run or of a job ended by an operator,
    /// are still being published one by one.
    var firstTold: JournalPosition

    init(_ left: LeftBehind, firstTold: JournalPosition) {
        (missing, self.firstTold) = (left.jobs, firstTold)
    }

    /// Whether any jobs are still to be searched for.
    var mustLook: Bool { !missing.isEmpty || !hasLookedIntoWork }

    /// Whether any lines of jobs that were not taken over yet may be unpublished.
    var haveUntold: Bool {
        missing.values.contains { !$0.untold.isEmpty } || found.contains(where: \.hasUntold)
            || takingUp.contains(where: \.hasUntold)
    }

    /// Whether a file in `new/` may belong to a job of the journal that has not been found yet.
    func isMissing(_ job: OpenJob) -> Bool {
        missing.values.contains { $0.facts.name == job.name || $0.facts.inode == job.status.inode }
    }

    /// Whether any unexamined job may be the same: with a ref, any job; without one, a job with the same file name.
    func isAny(whichMayBe name: FileName, _ summary: JobSummary) -> Bool {
        let left = [found, takingUp].joined()
        return summary.header.ref == nil ? left.contains { $0.claimed.name == name } : !left.isEmpty
    }
}

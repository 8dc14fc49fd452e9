import APNSGateway
package import APNSModel
import LinuxIO
package import SpoolModel
import SpoolStore

/// What an earlier run of an app left in the journal.
package struct LeftBehind: Sendable {
    /// The jobs that had not come to their end.
    package var jobs: [JobID: JournalJob] = [:]
    /// When its newest feedback file was named.
    package var newestFeedback: WallTime?

    /// Nothing.
    package init() {}
}

/// The jobs that an earlier run of an app has left, until they are taken up.
final class EarlierJobs {
    /// What the journal knows of those that were not found yet.
    var missing: [JobID: JournalJob]
    /// Those that are in `work/`, the next to take up at the end.
    var found: [LeftJob] = []
    /// Those that are being taken up.
    var takingUp: [LeftJob] = []
    /// Whether it is known what is in `work/`, and when to look again for what was not found.
    var hasLookedIntoWork = false
    var nextLook = Moment.zero
    /// Where the records begin that can be told while those before them, of an earlier run or of what an operator has ended,
    /// are told one by one.
    var firstTold: JournalPosition

    init(_ left: LeftBehind, firstTold: JournalPosition) {
        (missing, self.firstTold) = (left.jobs, firstTold)
    }

    /// Whether some are to be looked for.
    var mustLook: Bool { !missing.isEmpty || !hasLookedIntoWork }

    /// Whether lines of those that were not taken up are still to be told.
    var haveUntold: Bool {
        missing.values.contains { !$0.untold.isEmpty } || found.contains(where: \.hasUntold)
            || takingUp.contains(where: \.hasUntold)
    }

    /// Whether a file in `new/` may be that of a job of the journal which was not found yet.
    func isMissing(_ job: OpenJob) -> Bool {
        missing.values.contains { $0.facts.name == job.name || $0.facts.inode == job.status.inode }
    }

    /// Whether one that nobody has looked into may be the same as another: any, by its ref; and by its file one of its name.
    func isAny(whichMayBe name: FileName, _ summary: JobSummary) -> Bool {
        let left = [found, takingUp].joined()
        return summary.header.ref == nil ? left.contains { $0.claimed.name == name } : !left.isEmpty
    }
}

import LinuxIO
import SpoolStore

/// Evaluates the filesystem on which a spool is stored.
struct VolumeJudgement {
    /// The facts.
    let facts: VolumeFacts
    /// The space that must stay free.
    let floor: SpaceFloor
    /// Whether several nodes share it, for which a shared filesystem is the purpose.
    var isClustered = false

    /// A slower sync delays every claim and every group of outcomes.
    static let slowSync = Duration.milliseconds(100)
    /// A larger clock difference makes the ages of files wrong.
    static let lead = Duration.seconds(2)

    /// The findings.
    var findings: [DoctorFinding] {
        var book = FindingBook(.filesystem)
        noteSpace(in: &book)
        if let refusal = facts.refusal {
            note(refusal, in: &book)
            return book.findings
        }
        noteType(in: &book)
        noteNotification(in: &book)
        noteAbilities(in: &book)
        return book.findings
    }

    private func note(_ refusal: SystemError, in book: inout FindingBook) {
        if refusal.isOutOfSpace {
            book.fault("\(facts.place) is full: \(refusal)", hint: "free up space on that volume")
        } else {
            book.fault(
                "no file can be created in \(facts.place): \(refusal)",
                hint: refusal.readOnlyRemedy
                    ?? "make it writable for the daemon's user, or check whether its filesystem is broken")
        }
    }

    private func noteSpace(in book: inout FindingBook) {
        guard let space = facts.space else { return }
        let (free, least) = (space.freeByteCount, floor.byteCount(of: space))
        let words = "\(facts.place) has \(mebibytes(free)) free of \(mebibytes(space.byteCount))"
        let files = space.freeFileCount.map { ", and room for \($0) files" } ?? ""
        if free < least || space.freeFileCount.map({ $0 < floor.fileCount }) ?? false {
            book.fault(
                "\(words)\(files): no job is claimed below \(mebibytes(least)) and \(floor.fileCount) files",
                hint: "free up space on that volume, old archives first, or lower `limits.free_space`")
        } else if free / 2 < least {
            book.warn(
                "\(words): no job is claimed below \(mebibytes(least))",
                hint: "free up space on that volume, old archives first, before it runs out")
        } else {
            book.ok("\(words)\(files)")
        }
    }

    private func noteType(in book: inout FindingBook) {
        if facts.isShared, !isClustered {
            book.warn(
                "\(facts.place) is on \(facts.type), which does not report new files: new/ is polled",
                hint: "keep the spool on a local filesystem; pushspool-spool(7) lists the guarantees")
        } else {
            book.ok("\(facts.place) is on \(facts.type)")
        }
        if facts.lead > Self.lead || facts.lead < Self.lead * -1 {
            book.warn(
                "files in \(facts.place) are \(seconds(facts.lead)) ahead of this host's clock",
                hint: "synchronize the clocks of this host and its file server")
        }
    }

    private func noteNotification(in book: inout FindingBook) {
        switch facts.notification {
        case .told: if !facts.isShared { book.ok("the kernel reports renames in \(facts.place)") }
        case .untold:
            if facts.isShared { return }
            book.warn(
                "the kernel did not report a rename in \(facts.place): jobs wait for the next rescan",
                hint: "use a plain local filesystem: overlayfs or a sandbox may hide these events")
        case .fault(let fault):
            book.warn(
                "\(facts.place) cannot be watched, so jobs wait for the next rescan: \(fault.cause)",
                hint: fault.hint ?? "see inotify(7)")
        }
    }

    private func noteAbilities(in book: inout FindingBook) {
        if !facts.hasNoReplace {
            book.warn(
                "\(facts.type) does not support RENAME_NOREPLACE: files are linked and unlinked instead",
                hint: "no action is needed; a local filesystem does this in one step")
        }
        if !facts.hasLinks {
            book.warn(
                "\(facts.type) does not support hard links",
                hint: "keep the spool on a local filesystem, where two jobs never get the same name")
        }
        noteLease(in: &book)
        if facts.syncTime > Self.slowSync {
            book.warn(
                "a sync of 4 KiB in \(facts.place) took \(milliseconds(facts.syncTime))",
                hint: "reduce the load on the disk, or use a faster one: every claim waits for a sync")
        } else {
            book.ok("a sync in \(facts.place) took \(milliseconds(facts.syncTime))")
        }
    }

    private func noteLease(in book: inout FindingBook) {
        // On a shared filesystem a lease does not cover writers on other hosts.
        if facts.isShared { return }
        switch facts.lease {
        case .granted: book.ok("a read lease can be taken in \(facts.place)")
        case .writerHasIt: break
        case .unavailable:
            book.warn(
                "\(facts.type) has no read leases: files written in place wait until they stop changing",
                hint: "have producers rename their files into new/")
        }
    }

    private func mebibytes(_ count: Int64) -> String { "\(count >> 20) MiB" }

    private func milliseconds(_ time: Duration) -> String { "\(Int((time / .milliseconds(1)).rounded(.up))) ms" }

    private func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}

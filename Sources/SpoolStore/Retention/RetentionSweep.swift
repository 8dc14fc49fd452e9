import JobFormat
import LinuxIO
package import PushModel
package import SpoolModel

/// One pass over an app's archives and feedback that deletes files past their retention time.
///
/// It deletes jobs and results in day folders, those folders, feedback files, and what other nodes that are gone have left
/// for producers. It keeps other names and follows no link. A job is deleted before its result, so that no job is ever left without its result. The next sweep deletes a
/// result that a crash in between has left. Nothing is synced: files that a power loss brings back are deleted again. Owned by
/// one actor. Each step blocks for a few milliseconds, and memory does not grow with the number of files.
package final class RetentionSweep {
    /// How many names one step handles.
    package static let stepLimit = 256
    /// How many failures a folder may cause before it is left until the next sweep.
    private static let failureLimit = 16
    /// How long a file for producers stays after its node has written to it for the last time.
    private static let noticeKeepTime = Duration.seconds(7 * 86_400)

    private enum Place {
        case archive(ArchiveFolder)
        case day(ArchiveFolder, DayFolder)
        case feedback
        case notices

        var path: String {
            switch self {
            case .archive(let folder): folder.rawValue
            case .day(let folder, let day): "\(folder.rawValue)/\(day.name)"
            case .feedback: "feedback"
            case .notices: "tmp/.jobs"
            }
        }
    }

    /// The results so far.
    package private(set) var report = SweepReport()

    private let app: AppSpool
    private let rules: RetentionRules
    private let told: WallTime?
    /// The places still to visit, the next one last.
    private var waiting: [Place]
    /// The current place.
    private var place: Place?
    private var directory: Directory?
    private var listing: DirectoryListing?
    /// Found in the current place: expired days, foreign names, failures.
    private var days: [DayFolder] = []
    private var leftovers: SweepReport.Leftovers?
    private var failureCount = 0
    /// Feedback files are kept unless their name sorts before this one.
    private var horizon: [UInt8] = []

    /// Begins a pass.
    ///
    /// - Parameters:
    ///   - app: Whose files.
    ///   - rules: How long they are kept.
    ///   - scope: Which places to visit.
    ///   - told: The time of the newest feedback file whose deletion an earlier pass announced: no newer one is deleted.
    package init(_ app: AppSpool, _ rules: RetentionRules, _ scope: SweepSchedule.Scope, toldThrough told: WallTime?) {
        (self.app, self.rules, self.told) = (app, rules, told)
        let archives = [ArchiveFolder.failed, .done]
        switch scope {
        case .unkept: waiting = archives.filter { rules.keep($0).isZero }.map(Place.archive)
        case .everything:
            let feedback = rules.feedback == .forever ? [] : [Place.feedback]
            waiting = [.notices] + feedback + archives.filter { rules.keep($0) != .forever }.map(Place.archive)
        }
    }

    /// Handles the next names. Blocks.
    ///
    /// - Parameters:
    ///   - now: The time of day.
    ///   - live: Returns the places of jobs that are still in the journal, as of now. These jobs and their results are kept.
    /// - Returns: Whether there is more to do.
    package func step(at now: WallTime, sparing live: () -> Set<ArchivePlace>) -> Bool {
        guard let place = openNext() else { return false }
        var spared: Set<ArchivePlace> = []
        switch place {
        case .archive, .notices: break
        case .day: spared = live().union(app.archives.reserved)
        case .feedback: horizon = Array((rules.feedbackHorizon(at: now)?.compact ?? "").utf8)
        }
        for _ in 0..<Self.stepLimit {
            guard let entry = nextEntry() else {
                close(place, at: now)
                break
            }
            switch place {
            case .archive(let folder): takeDay(entry, of: folder, at: now)
            case .day(let folder, let day):
                takeFile(entry, of: ArchiveDay(folder: folder, day: day.name), spared, at: now)
            case .feedback: takeFeedback(entry, at: now)
            case .notices: takeNotices(entry, at: now)
            }
        }
        return true
    }

    // MARK: Moving between places

    private func openNext() -> Place? {
        if let place { return place }
        while let next = waiting.popLast() {
            do throws(SystemError) {
                let directory = try open(next)
                listing = try directory.listing()
                self.directory = directory
                place = next
                return next
            } catch {
                // The folder may have been removed by another program.
                if !error.isNotFound { note(error) }
            }
        }
        return nil
    }

    private func open(_ place: Place) throws(SystemError) -> Directory {
        switch place {
        case .archive(let folder): try app.archives.directory(of: folder)
        case .day(let folder, let day): try app.archives.directory(of: folder).openChild(Array(day.name.utf8))
        case .feedback: try app.home.openChild(Array("feedback".utf8))
        case .notices: try app.staging.openChild(EndedJob.folder)
        }
    }

    /// Returns `nil` at the end of the place, or after too many failures there.
    private func nextEntry() -> DirectoryListing.Entry? {
        guard failureCount < Self.failureLimit else { return nil }
        do {
            return try listing?.next()
        } catch {
            if !error.isNotFound { note(error) }
            return nil
        }
    }

    private func close(_ place: Place, at now: WallTime) {
        switch place {
        case .archive(let folder):
            waiting += days.sorted(by: >).map { .day(folder, $0) }
            days = []
        case .day(let folder, let day): remove(day, of: folder, at: now)
        case .feedback, .notices: break
        }
        if let leftovers { report.leftovers.append(leftovers) }
        listing = nil
        (self.place, directory, leftovers, failureCount) = (nil, nil, nil, 0)
    }

    /// Removes a day's folder if it is empty and the day has passed.
    private func remove(_ day: DayFolder, of folder: ArchiveFolder, at now: WallTime) {
        guard day.end <= now else { return }
        do {
            try app.archives.remove(ArchiveDay(folder: folder, day: day.name))
        } catch {
            if !error.isNotEmpty { note(error) }
        }
    }

    // MARK: Names

    /// Names with a leading dot are the filesystem's, or our own short-lived files.
    private func isHidden(_ entry: DirectoryListing.Entry) -> Bool { entry.name.first == 0x2E }

    private func takeDay(_ entry: DirectoryListing.Entry, of folder: ArchiveFolder, at now: WallTime) {
        guard !isHidden(entry) else { return }
        guard let day = DayFolder(name: entry.name), isDirectory(entry) else { return leave(entry) }
        if rules.keep(folder).isOver(day, at: now) { days.append(day) }
    }

    private func isDirectory(_ entry: DirectoryListing.Entry) -> Bool {
        if let kind = entry.kind { return kind == .directory }
        do {
            return try directory?.status(of: entry.name)?.kind == .directory
        } catch {
            note(error)
            return false
        }
    }

    /// Deletes a job and its result, whichever of their names comes first.
    private func takeFile(
        _ entry: DirectoryListing.Entry, of day: ArchiveDay, _ spared: Set<ArchivePlace>, at now: WallTime
    ) {
        guard !isHidden(entry), let directory else { return }
        guard let job = ArchivedName(entry.name)?.job else { return leave(entry) }
        guard !spared.contains(ArchivePlace(folder: day.folder, day: day.day, name: job)) else { return }
        do {
            if rules.keep(day.folder).isZero, try isYoung(job, in: directory, at: now) { return report.youngCount += 1 }
            if try directory.unlink(job.bytes) { report.jobCounts[day.folder, default: 0] += 1 }
            if let result = job.result { try directory.unlink(result.bytes) }
        } catch {
            // A folder that was dropped as a job and refused: its content is not ours.
            if error.isDirectory { leave(entry) } else { note(error) }
        }
    }

    /// Whether a job arrived here within the grace period, by its ctime. If the clock was set since, the job is only
    /// deleted earlier.
    private func isYoung(_ job: FileName, in directory: Directory, at now: WallTime) throws(SystemError) -> Bool {
        guard let status = try directory.status(of: job.bytes) else { return false }
        let age = now - WallTime(nanoseconds: status.changedAt)
        return age < SweepSchedule.grace && age > Duration.zero - SweepSchedule.grace
    }

    private func takeFeedback(_ entry: DirectoryListing.Entry, at now: WallTime) {
        guard entry.name.lexicographicallyPrecedes(horizon), let directory, let name = FileName(bytes: entry.name),
            let time = rules.coversAllNodes
                ? FeedbackFileName.time(of: entry.name) : FeedbackFolder.time(of: entry.name, node: app.node)
        else { return }
        switch rules.fate(ofFeedback: time, at: now, toldThrough: told) {
        case .kept: break
        case .announced:
            report.toldCount += 1
            report.oldestTold = min(report.oldestTold ?? name, name)
            report.toldThrough = max(report.toldThrough ?? time, time)
        case .deleted:
            do {
                if try directory.unlink(entry.name) { report.feedbackCount += 1 }
            } catch {
                if error.isDirectory { leave(entry) } else { note(error) }
            }
        }
    }

    /// Deletes another node's file for producers after a week without a line: whoever waited for its jobs has read it.
    private func takeNotices(_ entry: DirectoryListing.Entry, at now: WallTime) {
        guard EndedJob.isFile(entry.name), entry.name != EndedJob.fileName(of: app.node), let directory else { return }
        do {
            guard let status = try directory.status(of: entry.name), status.kind == .regular,
                now - WallTime(nanoseconds: status.modifiedAt) > Self.noticeKeepTime
            else { return }
            try directory.unlink(entry.name)
        } catch {
            note(error)
        }
    }

    private func leave(_ entry: DirectoryListing.Entry) {
        guard let place else { return }
        let example = FileName(bytes: entry.name)?.escaped ?? ""
        var leftovers = leftovers ?? SweepReport.Leftovers(path: place.path, example: example)
        leftovers.count += 1
        self.leftovers = leftovers
    }

    private func note(_ error: SystemError) {
        failureCount += 1
        report.failureCount += 1
        report.failure = report.failure ?? error
    }
}

extension RetentionRules {
    /// Returns how long an archive is kept.
    func keep(_ folder: ArchiveFolder) -> KeepTime {
        switch folder {
        case .done: done
        case .failed: failed
        }
    }
}

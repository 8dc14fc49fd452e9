package import JobFormat
package import PushModel

/// The queue of feedback files for an app's hook: each file in name order, retried until the hook takes it.
///
/// The folder is the real queue: this keeps a limited number of names and lists the folder for the rest. Since names
/// strictly increase, the name of the last file taken is all the state there is.
package struct HookQueue: Sendable {
    /// The most names kept.
    package static let nameLimit = 1024
    /// The first pause after a failure; each further pause is twice as long.
    package static let firstPause = Duration.seconds(1)
    /// The longest pause.
    package static let ceiling = Duration.seconds(300)

    /// The next step for the caller.
    package enum Step: Hashable, Sendable {
        /// List the folder, and report with `listed`.
        case list
        /// Run the hook with this file, and report with `ended`.
        case run(FileName)
        /// Do nothing until this time, or until a file is published.
        case wait(until: Moment?)
    }

    /// How a run ended.
    package enum End: Hashable, Sendable {
        /// The hook took the file.
        case taken
        /// The hook refuses the file for good.
        case refused
        /// The file no longer exists.
        case gone
        /// The file is not meant for the hook.
        case skipped
        /// The run failed; try the file again.
        case failed
    }

    /// The newest file that the hook is done with; `nil` if there is none.
    package private(set) var last: FileName?
    /// How often the first file has failed.
    package private(set) var failureCount = 0
    /// Since when the hook has taken no file although it should, and why.
    private var fault: (since: WallTime, error: String)?
    private var names = Queue<FileName>()
    private var newest: FileName?
    private var mustList: Bool
    private var isListing = false
    /// The first file published during a listing. The listing may miss it and still find later ones.
    private var firstUnlisted: FileName?
    private var pausedUntil = Moment.zero

    /// Creates the queue of a hook that is done with all files up to `last`. The first step lists the folder for later ones.
    package init(after last: FileName?) {
        self.last = last
        newest = last
        mustList = true
    }

    /// Returns the next step at this time.
    package mutating func next(at now: Moment) -> Step {
        if now < pausedUntil { return .wait(until: pausedUntil) }
        if let first = names.first { return .run(first) }
        guard mustList else { return .wait(until: nil) }
        (mustList, isListing) = (false, true)
        firstUnlisted = nil
        return .list
    }

    /// What keeps the hook from taking files; `nil` if nothing does.
    package var trouble: SpoolStatus.HookTrouble? {
        fault.map { .init(since: $0.since, failureCount: failureCount, error: $0.error) }
    }

    /// Records why the hook could not take a file, or why the folder could not be listed.
    package mutating func note(_ error: String, at time: WallTime) {
        fault = (fault?.since ?? time, error)
    }

    /// Whether no file waits, as far as is known.
    package var isEmpty: Bool { names.isEmpty && !mustList && !isListing }

    /// Records that a file was published.
    package mutating func published(_ name: FileName) {
        // The next listing finds a name that is dropped here.
        guard !isListing, !mustList, names.count < Self.nameLimit, newest.map({ $0 < name }) ?? true else {
            mustList = true
            if isListing { firstUnlisted = min(firstUnlisted ?? name, name) }
            return
        }
        append(name)
    }

    /// Records the result of a listing.
    ///
    /// - Parameters:
    ///   - found: Names after `last`, in any order, with no earlier name left out.
    ///   - isAll: Whether the folder has no others.
    package mutating func listed(_ found: [FileName], isAll: Bool) {
        isListing = false
        if failureCount == 0 { fault = nil }
        if !isAll { mustList = true }
        for name in found.sorted().prefix(Self.nameLimit) {
            if let firstUnlisted, firstUnlisted <= name { break }
            if newest.map({ $0 < name }) ?? true { append(name) }
        }
    }

    /// Records that the folder could not be listed.
    package mutating func notListed(at now: Moment) {
        (isListing, mustList) = (false, true)
        pausedUntil = now + Self.ceiling
    }

    /// Records how the run with the first file ended.
    package mutating func ended(_ end: End, at now: Moment) {
        switch end {
        case .taken, .refused, .gone, .skipped:
            guard let name = names.popFirst() else { return }
            // A skipped file does not move the mark: the mark could pass files that are still to come.
            if end != .skipped { last = name }
            (failureCount, fault) = (0, nil)
            pausedUntil = .zero
        case .failed:
            failureCount += 1
            pausedUntil = now + Self.pause(after: failureCount)
        }
    }

    /// Returns the pause after this number of failures of one file.
    package static func pause(after failureCount: Int) -> Duration {
        min(ceiling, firstPause * (1 << min(max(0, failureCount - 1), 16)))
    }

    private mutating func append(_ name: FileName) {
        names.append(name)
        newest = name
    }
}

package import APNSModel

/// Which feedback file an app's hook gets next: each one in the order of their names, again and again until it takes it.
///
/// The folder is the queue: only so many names are kept here, and the folder is listed for the rest. A file that the hook
/// has taken is remembered by its name alone, since names strictly increase.
package struct HookQueue: Sendable {
    /// How many names are kept.
    package static let nameLimit = 1024
    /// The first pause after a failure; the next ones are twice as long each.
    package static let firstPause = Duration.seconds(1)
    /// The longest pause.
    package static let ceiling = Duration.seconds(300)

    /// What is to be done now.
    package enum Step: Hashable, Sendable {
        /// List the folder, and tell with `listed`.
        case list
        /// Run the hook with this file, and tell with `ended`.
        case run(FileName)
        /// Nothing until then, or until something is published.
        case wait(until: Moment?)
    }

    /// How a run ended.
    package enum End: Hashable, Sendable {
        /// The hook has taken the file.
        case taken
        /// The hook will never take it.
        case refused
        /// The file is not there any more.
        case gone
        /// The file is not one that the hook is to get.
        case skipped
        /// It is to be tried again.
        case failed
    }

    /// The newest file that the hook needs no more; `nil`: it has had none.
    package private(set) var last: FileName?
    /// How often the file in front has failed.
    package private(set) var failureCount = 0
    private var names = Queue<FileName>()
    private var newest: FileName?
    private var mustList: Bool
    private var isListing = false
    /// The first file that was published during the listing, which may have found later ones without it.
    private var firstUnlisted: FileName?
    private var pausedUntil = Moment.zero

    /// Creates the queue of a hook that has had everything up to `last`; what is in the folder besides is listed first.
    package init(after last: FileName?) {
        self.last = last
        newest = last
        mustList = true
    }

    /// What is to be done at this time.
    package mutating func next(at now: Moment) -> Step {
        if now < pausedUntil { return .wait(until: pausedUntil) }
        if let first = names.first { return .run(first) }
        guard mustList else { return .wait(until: nil) }
        (mustList, isListing) = (false, true)
        firstUnlisted = nil
        return .list
    }

    /// Notes that a file was published.
    package mutating func published(_ name: FileName) {
        // What is left out here is found by the next listing.
        guard !isListing, !mustList, names.count < Self.nameLimit, newest.map({ $0 < name }) ?? true else {
            mustList = true
            if isListing { firstUnlisted = min(firstUnlisted ?? name, name) }
            return
        }
        append(name)
    }

    /// Notes what a listing has found.
    ///
    /// - Parameters:
    ///   - found: Names after `last`, the first ones of all, in any order.
    ///   - isAll: Whether these were all.
    package mutating func listed(_ found: [FileName], isAll: Bool) {
        isListing = false
        if !isAll { mustList = true }
        for name in found.sorted().prefix(Self.nameLimit) {
            if let firstUnlisted, firstUnlisted <= name { break }
            if newest.map({ $0 < name }) ?? true { append(name) }
        }
    }

    /// Notes that the folder could not be listed.
    package mutating func notListed(at now: Moment) {
        (isListing, mustList) = (false, true)
        pausedUntil = now + Self.ceiling
    }

    /// Notes how the run with the file in front ended.
    package mutating func ended(_ end: End, at now: Moment) {
        switch end {
        case .taken, .refused, .gone, .skipped:
            guard let name = names.popFirst() else { return }
            // One that was skipped is not remembered: the mark could get behind files that are still to come.
            if end != .skipped { last = name }
            failureCount = 0
            pausedUntil = .zero
        case .failed:
            failureCount += 1
            pausedUntil = now + Self.pause(after: failureCount)
        }
    }

    /// How long is waited after so many failures of one file.
    package static func pause(after failureCount: Int) -> Duration {
        min(ceiling, firstPause * (1 << min(max(0, failureCount - 1), 16)))
    }

    private mutating func append(_ name: FileName) {
        names.append(name)
        newest = name
    }
}

/// The first of many names, in bounded room: what a listing in no order is gathered in.
package struct FirstNames: Sendable {
    private var names: [FileName] = []
    private let limit: Int
    private var hasDropped = false
    /// The last of the first names, since there were too many.
    private var bound: FileName?

    /// Creates one that keeps the first `limit` names.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The first names, in order.
    package var sorted: [FileName] { Array(names.sorted().prefix(limit)) }

    /// Adds a name. Costs O(log *n*) on average.
    package mutating func add(_ name: FileName) {
        names.append(name)
        guard names.count >= 2 * limit else { return }
        names.sort()
        names.removeLast(names.count - limit)
        bound = names.last
        hasDropped = true
    }

    /// Whether a name may be one of the first. One that is not need not be looked at.
    package func mayKeep(_ name: FileName) -> Bool { bound.map { name < $0 } ?? true }

    /// Whether `sorted` leaves nothing out.
    package var isWhole: Bool { !hasDropped && names.count <= limit }
}

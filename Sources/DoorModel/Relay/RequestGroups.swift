package import PushModel

/// Collects requests that were accepted together into one job, so that one sync serves them all.
///
/// A group is due when it is full, or old enough; then its owner writes it and answers its requests.
package struct RequestGroups: Sendable {
    /// The requests of one job.
    package struct Group: Sendable {
        /// The app to drop the job for.
        package let app: String
        /// Whether each request is a line of a `.jsonl` file. If not, the only one is a document.
        package let isOfLines: Bool
        /// The lines, or the document, each with its line feed.
        package fileprivate(set) var bytes: [UInt8] = []
        /// The requests, in the order of the lines.
        package fileprivate(set) var requests: [UnansweredRequests.Pending] = []
        fileprivate let due: Moment

        /// Returns the group of the requests at these places, in their order.
        package func picking(_ places: [Int]) -> Group {
            guard places.count < requests.count else { return self }
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            var group = Group(app: app, isOfLines: isOfLines, due: due)
            for place in places { group.add(requests[place], Array(lines[place])) }
            return group
        }
    }

    private let limit: Int
    private let every: Duration
    private var open: [Group] = []
    private var full: [Group] = []
    /// The requests in all groups.
    package private(set) var requestCount = 0
    /// The bytes in all groups.
    package private(set) var byteCount = 0

    /// Creates an empty collection: groups of at most `limit` requests that wait for at most `every`.
    package init(limit: Int, every: Duration) {
        (self.limit, self.every) = (limit, every)
    }

    /// Adds a request to an app's group, with its line, without a line feed.
    ///
    /// - Returns: Whether a group is due earlier than before.
    package mutating func add(_ request: UnansweredRequests.Pending, line: [UInt8], to app: String, at now: Moment)
        -> Bool
    {
        var isEarlier = false
        let place: Int
        if let known = open.firstIndex(where: { $0.app == app }) {
            place = known
        } else {
            isEarlier = open.isEmpty
            place = begin(Group(app: app, isOfLines: true, due: now + every))
        }
        open[place].add(request, line)
        count(line)
        guard open[place].requests.count >= limit else { return isEarlier }
        full.append(open.remove(at: place))
        return true
    }

    /// Adds a request that is a job of its own, which is due at once.
    package mutating func add(_ request: UnansweredRequests.Pending, document: [UInt8], to app: String, at now: Moment)
    {
        var group = Group(app: app, isOfLines: false, due: now)
        group.add(request, document)
        count(document)
        full.append(group)
    }

    /// When the next group is due; `nil` if there is none.
    package var nextDue: Moment? { full.isEmpty ? open.lazy.map(\.due).min() : .zero }

    /// Removes and returns the groups that are due, full ones first.
    package mutating func takeDue(at now: Moment) -> [Group] {
        var due = full
        full = []
        due += open.filter { $0.due <= now }
        open.removeAll { $0.due <= now }
        for group in due {
            requestCount -= group.requests.count
            byteCount -= group.bytes.count
        }
        return due
    }

    private mutating func begin(_ group: Group) -> Int {
        open.append(group)
        return open.count - 1
    }

    private mutating func count(_ line: [UInt8]) {
        requestCount += 1
        byteCount += line.count + 1
    }
}

extension RequestGroups.Group {
    fileprivate mutating func add(_ request: UnansweredRequests.Pending, _ line: [UInt8]) {
        bytes.append(contentsOf: line)
        bytes.append(UInt8(ascii: "\n"))
        requests.append(request)
    }
}

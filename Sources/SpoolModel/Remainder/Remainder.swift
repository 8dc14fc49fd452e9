package import Document
import JobFormat
package import JournalModel
package import PushModel

/// The remainder of a held or retried job, in a file `<name>.rest` in `hold/` that the next claim reads.
///
/// It belongs to the job's file, not to its name: moving the file from `hold/` to `new/`, even by hand, releases the
/// job. A copy of the file, or a file changed since, is a different job and is sent in full.
package struct Remainder: Hashable, Sendable {
    /// The version in every file.
    package static let version = 1
    /// The most bytes in a file.
    package static let byteLimit = 64 << 20
    /// The most runs of indices in a file. Each takes three events (a sequence and two numbers), which keeps the file
    /// within the default `DocumentLimits.eventCount`.
    package static let runLimit = 1_000_000

    /// The identity of the job's file, which a change or a copy does not keep.
    package struct File: Hashable, Sendable {
        /// The inode, on the app's filesystem.
        package var inode: UInt64
        /// The size in bytes.
        package var byteCount: Int64
        /// The modification time, in nanoseconds since 1970.
        package var modifiedAt: Int64

        /// Creates the identity of a file.
        package init(inode: UInt64, byteCount: Int64, modifiedAt: Int64) {
            (self.inode, self.byteCount, self.modifiedAt) = (inode, byteCount, modifiedAt)
        }
    }

    /// The state of a job of which some notifications were sent.
    package struct Sent: Hashable, Sendable {
        /// The daemon's id, which the job keeps: a resent notification has the same `apns-id`.
        package var id: JobID
        /// The producer's id.
        package var ref: String?
        /// How many recipients the job has.
        package var count: Int
        /// Its progress.
        package var progress: JournalProgress
        /// Whether an operator wants all of it sent even if another job with its ref was sent.
        package var isWanted = false

        /// Creates the state of a job with this number of recipients.
        package init(id: JobID, ref: String?, count: Int, progress: JournalProgress) {
            (self.id, self.ref, self.count, self.progress) = (id, ref, count, progress)
        }
    }

    /// The file.
    package var file: File
    /// When the job was dropped. Relative times count from it.
    package var droppedAt: WallTime
    /// The job's path in an archive, relative to the app's folder, if it came from one.
    package var origin: String?
    /// The state of its sent part; `nil` if nothing was sent.
    package var sent: Sent?

    /// Whether the job is sent even if another job with its producer's id was sent meanwhile: some of its notifications
    /// were accepted or are in doubt, or an operator wants to resend it.
    package var isSentAnyway: Bool { sent.map { $0.isWanted || $0.progress.tally.isAnyoneReached } ?? (origin != nil) }

    /// Creates the remainder of a job of which nothing was sent; the caller sets the other members.
    package init(of file: File, droppedAt: WallTime) {
        (self.file, self.droppedAt) = (file, droppedAt)
    }
}

// The file format: one JSON object.
extension Remainder {
    /// Reads a remainder file.
    ///
    /// - Returns: `nil` if it is not of this version or contains invalid values.
    package init?(_ root: Node) {
        guard root["v"]?.integer == Self.version, let file = root["file"].flatMap({ File($0) }),
            let droppedAt = root["dropped_at"]?.string.flatMap({ WallTime(rfc3339: $0) })
        else { return nil }
        self.init(of: file, droppedAt: droppedAt)
        origin = root["origin"]?.string
        guard root["id"] != nil else { return }
        guard let sent = Sent(root) else { return nil }
        self.sent = sent
    }

    /// The file's content.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("v", Self.version)
        writer.member("id", sent?.id.description)
        writer.member("ref", sent?.ref)
        writer.member("dropped_at", droppedAt.rfc3339)
        writer.member("origin", origin)
        writer.key("file")
        file.write(to: &writer)
        sent?.write(to: &writer)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension Remainder.File {
    fileprivate init?(_ node: Node) {
        guard let inode = node["inode"]?.scalarText.flatMap({ UInt64($0) }), let byteCount = node["bytes"]?.integer,
            let modifiedAt = node["mtime_ns"]?.integer
        else { return nil }
        self.init(inode: inode, byteCount: Int64(byteCount), modifiedAt: Int64(modifiedAt))
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        // As text, because some filesystems have inodes beyond the range of a JSON number.
        writer.member("inode", "\(inode)")
        writer.member("bytes", Int(byteCount))
        writer.member("mtime_ns", Int(modifiedAt))
        writer.endObject()
    }
}

extension Remainder.Sent {
    fileprivate init?(_ root: Node) {
        guard let id = root["id"]?.string.flatMap({ JobID($0) }), let counts = root["counts"],
            let count = Tally.count(counts["notifications"]), let tally = Tally(counts),
            let remaining = IndexRuns(root["indexes"]?["remaining"], below: count)
        else { return nil }
        var progress = JournalProgress(remaining: remaining)
        progress.tally = tally
        for kind in Outcome.Kind.allCases where kind != .accepted {
            guard let told = IndexRuns(root["indexes"]?[kind.rawValue], below: count) else { return nil }
            if !told.isEmpty { progress.runs[kind] = told }
        }
        self.init(id: id, ref: root["ref"]?.string, count: count, progress: progress)
        isWanted = root["wanted"]?.isText("true") == true
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.key("counts")
        writer.beginObject()
        writer.member("notifications", count)
        for (name, number) in zip(Tally.names, progress.tally.numbers) { writer.member(name, number) }
        writer.endObject()
        writer.key("indexes")
        writer.beginObject()
        writer.member("remaining", progress.remaining)
        for kind in Outcome.Kind.allCases where kind != .accepted { writer.member(kind.rawValue, progress[kind]) }
        writer.endObject()
        writer.member("wanted", isWanted ? "true" : nil)
    }
}

extension Tally {
    /// The names of its numbers in remainder files.
    fileprivate static let names = ["accepted", "refused", "invalid", "expired", "unsent", "unknown"]

    fileprivate init?(_ node: Node) {
        var numbers: [Int] = []
        for name in Self.names {
            // Corrections can lower the accepted count below zero.
            let least = name == Self.names[0] ? -Self.countLimit : 0
            guard let count = Self.count(node[name], from: least) else { return nil }
            numbers.append(count)
        }
        self.init(numbers: numbers)
    }

    /// Reads a count from an untrusted file.
    ///
    /// - Returns: `nil` if it is not a number, is below `least`, or exceeds `countLimit`.
    static func count(_ node: Node?, from least: Int = 0) -> Int? {
        guard let count = node?.integer, count >= least, count <= countLimit else { return nil }
        return count
    }
}

extension IndexRuns {
    /// Reads runs of indices in the form of result files, `[[first, last], …]`; an empty set if there is no node.
    ///
    /// - Returns: `nil` if the node has another form, or an index is not below `count`.
    init?(_ node: Node?, below count: Int) {
        self.init()
        guard let node else { return }
        guard node.kind == .sequence else { return nil }
        for element in node.elements {
            let ends = element.elements.map(\.integer)
            guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 0, first <= last, last < count
            else { return nil }
            insert(first..<last + 1)
        }
    }
}

extension JSONWriter {
    /// Writes a member with runs of indices, `[[first, last], …]`; writes nothing for an empty set.
    mutating func member(_ name: String, _ runs: IndexRuns) {
        guard !runs.isEmpty else { return }
        key(name)
        beginArray()
        for run in runs.runs { raw("[\(run.lowerBound),\(run.upperBound - 1)]".utf8) }
        endArray()
    }
}

package import APNSModel
package import Document

/// What is left of a job that is parked or tried again: in `hold/`, in a file `<name>.rest` that the next claim reads.
///
/// It goes with the job's file and not with its name: whoever moves that from `hold/` to `new/` releases it, by hand too. A
/// copy of it, or a file that was changed since, is another job, and is sent whole.
package struct Rest: Hashable, Sendable {
    /// The version that every file begins with.
    package static let version = 1
    /// How long such a file may be.
    package static let byteLimit = 64 << 20
    /// How many runs of indices one may have, which is a third of what is read of it.
    package static let runLimit = 1_000_000

    /// The job's file, as long as nobody changes or copies it.
    package struct File: Hashable, Sendable {
        /// Its number on the filesystem of the app.
        package var inode: UInt64
        /// Its length.
        package var byteCount: Int64
        /// The last change of its bytes, in nanoseconds since 1970.
        package var modifiedAt: Int64

        /// Creates the marks of a file.
        package init(inode: UInt64, byteCount: Int64, modifiedAt: Int64) {
            (self.inode, self.byteCount, self.modifiedAt) = (inode, byteCount, modifiedAt)
        }
    }

    /// What was sent of it, if anything was.
    package struct Sent: Hashable, Sendable {
        /// Our id, which it keeps: what is sent again has the same `apns-id`.
        package var id: JobID
        /// The producer's.
        package var ref: String?
        /// How many recipients it has.
        package var count: Int
        /// How far it is.
        package var progress: JournalProgress
        /// Whether an operator wanted all of it to be sent, although a job of its ref was.
        package var isWanted = false

        /// Creates what is known of a job of so many recipients.
        package init(id: JobID, ref: String?, count: Int, progress: JournalProgress) {
            (self.id, self.ref, self.count, self.progress) = (id, ref, count, progress)
        }
    }

    /// The file.
    package var file: File
    /// When the job was dropped: times count from there.
    package var droppedAt: WallTime
    /// Where it was before, relative to the app's folder, if it was in an archive.
    package var origin: String?
    /// What was sent of it.
    package var sent: Sent?

    /// Whether it goes on whatever was sent with its producer's id meanwhile: somebody got a part of it, or an operator wants
    /// all of it to be sent once more.
    package var isSentAnyway: Bool { sent.map { $0.isWanted || $0.progress.tally.isAnyoneReached } ?? (origin != nil) }

    /// Creates the rest of a job of which nothing was sent; the other members are set by hand.
    package init(of file: File, droppedAt: WallTime) {
        (self.file, self.droppedAt) = (file, droppedAt)
    }
}

// The file: one JSON object.
extension Rest {
    /// Reads one, or finds that it is none of this version, or says what cannot be.
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

extension Rest.File {
    fileprivate init?(_ node: Node) {
        guard let inode = node["inode"]?.scalarText.flatMap({ UInt64($0) }), let byteCount = node["bytes"]?.integer,
            let modifiedAt = node["mtime_ns"]?.integer
        else { return nil }
        self.init(inode: inode, byteCount: Int64(byteCount), modifiedAt: Int64(modifiedAt))
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        // As text: some filesystems' are longer than a number is sure to be.
        writer.member("inode", "\(inode)")
        writer.member("bytes", Int(byteCount))
        writer.member("mtime_ns", Int(modifiedAt))
        writer.endObject()
    }
}

extension Rest.Sent {
    fileprivate init?(_ root: Node) {
        guard let id = root["id"]?.string.flatMap({ JobID($0) }), let counts = root["counts"],
            let count = Tally.count(counts["notifications"]), let tally = Tally(counts),
            let remaining = IndexRuns(root["indexes"]?["remaining"], below: count)
        else { return nil }
        var progress = JournalProgress(remaining: remaining)
        progress.tally = tally
        var runs: [String: IndexRuns] = [:]
        for word in Self.words {
            guard let told = IndexRuns(root["indexes"]?[word], below: count) else { return nil }
            runs[word] = told
        }
        progress.runs = runs
        self.init(id: id, ref: root["ref"]?.string, count: count, progress: progress)
        isWanted = root["wanted"]?.isText("true") == true
    }

    private static let words = ["rejected", "expired", "unsent", "unknown"]

    fileprivate func write(to writer: inout JSONWriter) {
        writer.key("counts")
        writer.beginObject()
        writer.member("notifications", count)
        progress.tally.write(to: &writer)
        writer.endObject()
        writer.key("indexes")
        writer.beginObject()
        writer.member("remaining", progress.remaining)
        for word in Self.words { writer.member(word, progress.runs[word] ?? IndexRuns()) }
        writer.endObject()
        writer.member("wanted", isWanted ? "true" : nil)
    }
}

extension Tally {
    private static let names = ["accepted", "refused", "invalid", "expired", "unsent", "unknown"]

    fileprivate init?(_ node: Node) {
        let refusal = { (status: Int?) in Refusal(status: status, reason: "", verdict: .later) }
        let outcomes: [Outcome] = [
            .accepted, .rejected(refusal(0)), .rejected(refusal(nil)), .expired, .unsent(refusal(nil)), .unknown,
        ]
        self.init()
        for (name, outcome) in zip(Self.names, outcomes) {
            // Corrections can bring what was accepted below nothing.
            let least = outcome == .accepted ? -Self.countLimit : 0
            guard let count = Self.count(node[name], from: least) else { return nil }
            add(outcome, count: count)
        }
    }

    /// Reads a count of a file that anybody may have written.
    ///
    /// - Returns: `nil` when it is none, below `least`, or more than any job has.
    static func count(_ node: Node?, from least: Int = 0) -> Int? {
        guard let count = node?.integer, count >= least, count <= countLimit else { return nil }
        return count
    }

    fileprivate func write(to writer: inout JSONWriter) {
        for (name, count) in zip(Self.names, [accepted, refused, invalid, expired, unsent, unknown]) {
            writer.member(name, count)
        }
    }
}

extension IndexRuns {
    /// Reads runs of indices, `[[first, last], …]`, as result files have them; none if there is no node.
    ///
    /// - Returns: `nil` when it is anything else, or an index is not below `count`.
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
    /// Writes a member that is runs of indices, or nothing for none.
    fileprivate mutating func member(_ name: String, _ runs: IndexRuns) {
        guard !runs.isEmpty else { return }
        key(name)
        beginArray()
        for run in runs.runs { raw("[\(run.lowerBound),\(run.upperBound - 1)]".utf8) }
        endArray()
    }
}

package import JobFormat
import LinuxIO
import SpoolModel

/// Writes what an app's producers may know of its jobs: `tmp/.jobs/`, for whoever may enter `tmp/`.
///
/// Nothing is synced here. The lines of ended jobs survive a power loss with the sync of the archives, before which the
/// journal forgets no job. Calls block.
package final class JobNotices {
    /// A file that is longer gets no more lines. With the one before it, which is kept, this limits what a node writes.
    private static let byteLimit: Int64 = 8 << 20

    /// How many bytes of lines wait in memory while they cannot be written; then they are lost.
    private static let waitingLimit = 4 << 20

    private let staging: Directory
    private let hold: Directory
    private let node: String
    private let writers: FeedbackWriters
    /// Lines whose feedback is not about to be published, and lines to be written.
    private var (added, sealed): ([UInt8], [UInt8]) = ([], [])
    /// The files in the list `held`, with their inodes when they came there; `nil` if it is not known what it has.
    private var held: [FileName: UInt64]?
    /// Why the last attempt to write failed. That stops nothing: the next call tries again.
    package private(set) var fault: (any Error)?

    /// Creates the notices of a node's jobs, and no file.
    ///
    /// - Throws: `SystemError`: the folder `work` cannot be read.
    init(
        in staging: Directory, of node: String, holdingIn hold: Directory, writingIn work: Directory
    ) throws(SystemError) {
        (self.staging, self.hold, self.node) = (staging, hold, node)
        writers = try FeedbackWriters(publishingFrom: work)
    }

    /// Adds a line of `EndedJob` in memory, when its line of feedback is added.
    package func add(_ line: [UInt8]) { added.append(contentsOf: line) }

    /// Chooses the lines added so far to be written next, because their lines of feedback are about to be published.
    package func seal() {
        sealed.append(contentsOf: added)
        added = []
    }

    /// Writes all lines added so far: their lines of feedback are published already.
    package func writeAll() {
        seal()
        write()
    }

    /// Appends the sealed lines to the file, by one write. A crash may repeat lines.
    ///
    /// If that fails, they wait for the next call, unless they are too many; the journal does not wait for them. Call it again
    /// after a while, at the end, and before the archives are synced, which covers the file.
    package func write() {
        guard !sealed.isEmpty else { return }
        do {
            try append(sealed)
            (sealed, fault) = ([], nil)
        } catch {
            fault = error
            if sealed.count > Self.waitingLimit { sealed = [] }
        }
    }

    /// Opens the file each time: many apps would keep many descriptors, and lines are written once in a while.
    private func append(_ lines: [UInt8]) throws {
        let (folder, name) = (try openFolder(), EndedJob.fileName(of: node))
        var file = try folder.openForWriting(name, mode: 0o644)
        var byteCount = try file.status().byteCount
        if byteCount >= Self.byteLimit {
            try folder.rename(name, to: folder, replacing: EndedJob.fileName(of: node, isEarlier: true))
            file = try folder.openForWriting(name, mode: 0o644)
            byteCount = 0
        }
        var last: [UInt8] = []
        // A crash or a full disk may have left a part of a line.
        let isTorn = try byteCount > 0 && file.read(1, at: byteCount - 1, appendingTo: &last) == 1 && last != [0x0A]
        try file.write(isTorn ? [0x0A] + lines : lines, at: byteCount)
    }

    private func openFolder() throws -> Directory {
        let folder = try staging.makeChild(EndedJob.folder, mode: 0o755)
        guard try writers.areOwners(of: folder.status()) else {
            throw SpoolFault("\(folder.path) belongs to another user", hint: "remove it; the daemon makes it again")
        }
        return folder
    }

    /// Makes known which files are in `hold/`. Writes only if they are others than before, also before a start.
    ///
    /// Costs a status call for each file that was not there before.
    package func noteHeld(_ names: Set<FileName>) {
        if let held, held.count == names.count, names.allSatisfy({ held[$0] != nil }) { return }
        do {
            var found: [FileName: UInt64] = [:]
            // A file that has gone meanwhile is left out.
            for name in names { found[name] = try held?[name] ?? hold.status(of: name.bytes)?.inode }
            try list(found)
        } catch {
            (held, fault) = (nil, error)
        }
    }

    /// Replaces the list, if it is another.
    private func list(_ files: [FileName: UInt64]) throws {
        guard files != held else { return }
        // As in the lines of `EndedJob`.
        let lines = files.sorted { $0.key < $1.key }.flatMap { Array("\($0)\t\($1)\thold/\($0)\t{}\n".utf8) }
        if try held != nil || heldList() != lines {
            try openFolder().replace(EndedJob.heldName, by: Array(".\(node)".utf8), mode: 0o644) {
                (file) throws(SystemError) in try file.write(lines)
            }
        }
        (held, fault) = (files, nil)
    }

    /// What the list says now; an app that never held a job has none.
    private func heldList() throws -> [UInt8] {
        guard try staging.status(of: EndedJob.folder) != nil else { return [] }
        return try openFolder().contentsIfThere(of: EndedJob.heldName, limit: EndedJob.heldByteLimit) ?? []
    }

    /// Makes known that a file is no longer in `hold/`, or is about to be claimed, if the list may have it.
    package func noteReleased(_ name: FileName) {
        guard let held else { return noteHeld([]) }
        if held[name] != nil { noteHeld(Set(held.keys).subtracting([name])) }
    }
}

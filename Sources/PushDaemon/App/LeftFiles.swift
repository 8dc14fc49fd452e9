import LinuxIO
import SpoolModel
import SpoolStore

/// Where files of jobs are that are neither in `work/` nor in an archive, by their numbers: a disk may have another number after
/// each start of the machine, and a name may be another.
struct LeftFiles {
    /// The names of those in `hold/`.
    let held: [UInt64: Set<FileName>]
    /// The names of those in `new/`.
    let new: [UInt64: [FileName]]

    /// Looks for the file of a job of the journal that is not in `work/`.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - content: What the journal has of its file; `nil` if that cannot be read any more.
    ///   - name: By what name to look in `new/`.
    ///   - spool: Where.
    /// - Returns: What is found of it; of `hold/` only what its number tells.
    /// - Throws: `SystemError`: EIO and the like.
    func findings(
        of job: JournalJob, _ content: JournalHeader.Content?, named name: FileName, in spool: AppSpool
    ) throws(SystemError) -> RecoveryFindings {
        var found = RecoveryFindings()
        let facts = job.facts
        let archived = try archivedFile(of: job, content, in: spool)
        found.isArchived = archived != nil
        found.isHeld = archived == nil && isHeld(facts)
        guard let file = try spool.candidate(for: name) else { return found }
        let isSameFile = file.status.inode == facts.inode
        found.isLinkedInNew = isSameFile && found.isHeld || archived?.isSameFile(as: file.status) == true
        guard let content else {
            found.isInNew = isSameFile && file.status.byteCount == facts.byteCount
            return found
        }
        found.isInNew = try file.holds(content, byteCount: facts.byteCount)
        if isSameFile { found.isTornInNew = try file.isTorn(of: content) }
        return found
    }

    /// Whether the file of a job is in `hold/`, by one of the names that it gets there. Its bytes do not tell: it may be there
    /// because somebody has changed them.
    private func isHeld(_ facts: JournalHeader.Facts) -> Bool {
        let (limit, name) = (FileName.byteLimitWithRest, facts.name)
        return held[facts.inode]?.contains {
            $0 == name.numbered(1, toFit: limit) || $0.isNumbered(from: name, toFit: limit)
        } == true
    }

    /// The file of a job that has ended, in its place in the archive, or by a number of its name if another took that.
    ///
    /// It has the job's number, or its bytes if it was restored; then the job's own file is not in `new/`.
    private func archivedFile(
        of job: JournalJob, _ content: JournalHeader.Content?, in spool: AppSpool
    ) throws(SystemError) -> FileStatus? {
        guard let final = job.final else { return nil }
        var place = ArchivePlace(final)
        var number = 1
        let isBack = try isBackInNew(job, content, in: spool)
        while let there = try spool.archived(at: place) {
            if there.inode == job.facts.inode { return there }
            if !isBack, there.byteCount == job.facts.byteCount {
                switch content {
                case .bytes(let bytes)?: if try spool.contents(at: place, limit: bytes.count) == bytes { return there }
                case .checks?, nil: return there
                }
            }
            number += 1
            place = ArchivePlace(folder: place.folder, day: place.day, name: job.facts.name.numbered(number))
        }
        return nil
    }

    /// Whether the file of a job is in `new/`, by whatever name, whole or torn. Its number alone does not tell: in a spool that
    /// was copied, or came from a backup, another file may have got it.
    private func isBackInNew(
        _ job: JournalJob, _ content: JournalHeader.Content?, in spool: AppSpool
    ) throws(SystemError) -> Bool {
        for name in new[job.facts.inode] ?? [] {
            guard let file = try spool.candidate(for: name), file.status.inode == job.facts.inode else { continue }
            guard let content else { return true }
            if try file.holds(content, byteCount: job.facts.byteCount) { return true }
            if try file.isTorn(of: content) { return true }
        }
        return false
    }
}

extension JournalHeader.Content {
    /// How a file of this content compares with the one that the journal has.
    func isSame(as expected: JournalHeader.Content?) -> RecoveryFindings.Copy {
        switch (self, expected) {
        case (.bytes(let found), .bytes(let expected)?): RecoveryFindings.Copy(found, expected: expected)
        case (.checks(let found), .checks(let expected)?): found == expected ? .same : .other
        case (.bytes(let found), .checks?): found.allSatisfy { $0 == 0 } ? .torn : .other
        case (.checks, .bytes?): .other
        case (_, nil): .same
        }
    }
}

extension OpenJob {
    /// Whether the file is what a power loss may leave of these bytes; never of those that are known by their checks only.
    fileprivate func isTorn(of content: JournalHeader.Content) throws(SystemError) -> Bool {
        guard case .bytes(let bytes) = content else { return false }
        let there = try file.contents(limit: JournalHeader.byteLimit)
        return there.map { RecoveryFindings.Copy($0, expected: bytes) } == .torn
    }

    /// Whether the file has these bytes and no others.
    func holds(_ content: JournalHeader.Content, byteCount: Int64) throws(SystemError) -> Bool {
        guard status.byteCount == byteCount else { return false }
        switch content {
        case .bytes(let bytes): return try file.contents(limit: JournalHeader.byteLimit) == bytes
        case .checks(let checks):
            for (index, check) in checks.enumerated() {
                var piece: [UInt8] = []
                let offset = Int64(index) * Int64(JournalHeader.checkedByteCount)
                _ = try file.read(JournalHeader.checkedByteCount, at: offset, appendingTo: &piece)
                guard CRC32C.checksum(piece.span) == check else { return false }
            }
            return true
        }
    }
}

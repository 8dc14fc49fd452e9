package import JobFormat
package import JournalModel
package import LinuxIO

/// The inodes of job files that are neither in `work/` nor in an archive. Device numbers are not compared: a disk may
/// get another one after each boot. Nor are names, which may differ.
package struct LeftFiles {
    /// The names in `hold/` by inode.
    let held: [UInt64: Set<FileName>]
    /// The names in `new/` by inode.
    package let new: [UInt64: [FileName]]

    /// Takes the names in `hold/` and `new/`, by inode.
    package init(held: [UInt64: Set<FileName>], new: [UInt64: [FileName]]) { (self.held, self.new) = (held, new) }

    /// Searches for the file of a job in the journal that is not in `work/`.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - content: The journal's record of its content; `nil` if that can no longer be read.
    ///   - name: The name to look for in `new/`.
    ///   - spool: The app's folders.
    /// - Returns: The findings. In `hold/` only the inode and the name are checked.
    /// - Throws: `SystemError`: for example EIO.
    package func findings(
        of job: JournalJob, _ content: JournalHeader.Content?, named name: FileName, in spool: AppSpool
    ) throws(SystemError) -> RecoveryFindings {
        var found = RecoveryFindings()
        let facts = job.facts
        let archived = try archivedFile(of: job, content, in: spool)
        found.isArchived = archived != nil
        found.isHeld = archived == nil && isHeld(facts)
        found.mayBeElsewhere = spool.isClustered
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

    /// Whether the job's file is in `hold/`, under one of the names that it can get there. Its bytes prove nothing: it
    /// may be there because they were changed.
    private func isHeld(_ facts: JournalHeader.Facts) -> Bool {
        let (limit, name) = (FileName.byteLimitWithRest, facts.name)
        return held[facts.inode]?.contains {
            $0 == name.numbered(1, toFit: limit) || $0.isNumbered(from: name, toFit: limit)
        } == true
    }

    /// Returns the status of an ended job's file in the archive: in its place, or under a numbered name if that was taken.
    ///
    /// The file has the job's inode, or its bytes if it was restored; in the second case the original is not in `new/`.
    private func archivedFile(
        of job: JournalJob, _ content: JournalHeader.Content?, in spool: AppSpool
    ) throws(SystemError) -> FileStatus? {
        guard let final = job.final else { return nil }
        let isBack = try isBackInNew(job, content, in: spool)
        let place = ArchivePlace(final)
        return try spool.archives.file(of: job.facts.name, at: place) { (there, place) throws(SystemError) in
            if there.inode == job.facts.inode { return true }
            guard !isBack, there.byteCount == job.facts.byteCount else { return false }
            guard case .bytes(let bytes)? = content else { return true }
            return try spool.archives.contents(at: place, limit: bytes.count) == bytes
        }
    }

    /// Whether the job's file is in `new/`, under any name, complete or torn. Its inode alone proves nothing: in a
    /// copied or restored spool another file may have it.
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

extension Archives {
    /// Returns the status of the first file that is wanted: at a job's place, or under the numbered forms of its name there, one of
    /// which it gets if its place was taken. Looks no further than the first free one.
    ///
    /// - Throws: `SystemError`: the archive cannot be read; what `isWanted` throws.
    func file(
        of name: FileName, at place: ArchivePlace,
        where isWanted: (FileStatus, ArchivePlace) throws(SystemError) -> Bool
    ) throws(SystemError) -> FileStatus? {
        var (place, number) = (place, 1)
        while let there = try status(at: place) {
            if try isWanted(there, place) { return there }
            number += 1
            place = ArchivePlace(folder: place.folder, day: place.day, name: name.numbered(number))
        }
        return nil
    }
}

extension JournalHeader.Content {
    /// Returns the checksum of a piece, by the processor's instruction if it has one.
    package static func checksum(_ piece: Span<UInt8>) -> UInt32 {
        ProcessorChecksum.crc32c(piece) ?? CRC32C.checksum(piece)
    }

    /// Compares this content with the content in the journal.
    package func isSame(as expected: JournalHeader.Content?) -> RecoveryFindings.Copy {
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
    /// Whether the file is these bytes torn by a power loss; always false if only checksums are known.
    fileprivate func isTorn(of content: JournalHeader.Content) throws(SystemError) -> Bool {
        guard case .bytes(let bytes) = content else { return false }
        let there = try file.contents(limit: JournalHeader.byteLimit)
        return there.map { RecoveryFindings.Copy($0, expected: bytes) } == .torn
    }

    /// Whether the file has exactly these bytes.
    func holds(_ content: JournalHeader.Content, byteCount: Int64) throws(SystemError) -> Bool {
        guard status.byteCount == byteCount else { return false }
        switch content {
        case .bytes(let bytes): return try file.contents(limit: JournalHeader.byteLimit) == bytes
        case .checks(let checks):
            for (index, check) in checks.enumerated() {
                var piece: [UInt8] = []
                let offset = Int64(index) * Int64(JournalHeader.checkedByteCount)
                _ = try file.read(JournalHeader.checkedByteCount, at: offset, appendingTo: &piece)
                guard JournalHeader.Content.checksum(piece.span) == check else { return false }
            }
            return true
        }
    }
}

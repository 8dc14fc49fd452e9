package import APNSModel
package import LinuxIO
package import SpoolModel

/// A file in `hold/`, and the file beside it that says what is left of it.
package struct ParkedFile: Hashable, Sendable {
    /// The name that it has there.
    package let name: FileName
    /// The name of the file beside it.
    package let rest: FileName?

    /// Creates the names.
    package init(name: FileName, rest: FileName?) {
        (self.name, self.rest) = (name, rest)
    }
}

extension AppSpool {
    // MARK: To hold/

    /// Parks a claimed job in `hold/` under its own name, or the next number when that is taken; synced. Before it, and synced
    /// too, comes the file that says what is left of it.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - rest: The bytes of that file.
    /// - Returns: Their names.
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; the job is where it was, and nothing is beside it.
    package func hold(_ job: ClaimedJob, leaving rest: [UInt8]) throws(SystemError) -> ParkedFile {
        let parked = try park(Archiving(id: job.id, name: job.name, file: job.claim, source: work, result: rest))
        try work.unlink(WorkEntry.fullName(of: job.id))
        try held.sync(.holdFolder)
        try work.sync(.holdSource)
        // The claim may not have been synced: the job would be in `new/` as well, and the journal knows nothing of it any more.
        try new.sync(.holdSource)
        return parked
    }

    /// Parks a file that waits in `new/`; synced.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - id: Names what is beside it until it is in place.
    ///   - rest: The bytes of the file beside it; `nil`: there is one already, whatever its name is.
    /// - Returns: Their names; `nil` when the file is gone.
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; it is where it was.
    package func hold(waiting file: SeenFile, id: JobID, leaving rest: [UInt8]?) throws(SystemError) -> ParkedFile? {
        do {
            let parked =
                if let rest {
                    try park(Archiving(id: id, name: file.name, file: file, source: new, result: rest))
                } else {
                    ParkedFile(name: try moveToHold(file, from: new, as: file.name), rest: nil)
                }
            try held.sync(.holdFolder)
            try new.sync(.holdSource)
            return parked
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Moves a file to `hold/`, by the first of its names that is free there with room beside it.
    private func park(_ parking: Archiving) throws(SystemError) -> ParkedFile {
        var number = 0
        while true {
            number += 1
            let name = parking.name.numbered(number, toFit: FileName.byteLimitWithRest)
            guard let rest = name.rest, try held.status(of: name.bytes) == nil else { continue }
            guard try leave(parking.result ?? [], of: parking.id, as: rest) else { continue }
            do {
                if try move(parking.file, from: parking.source, to: held, as: name) {
                    return ParkedFile(name: name, rest: rest)
                }
            } catch {
                try held.unlink(rest.bytes)
                throw error
            }
            try held.unlink(rest.bytes)
        }
    }

    /// Puts a file into `hold/` that says what is left of a job, whole and synced, unless its name is taken.
    private func leave(_ rest: [UInt8], of id: JobID, as name: FileName) throws(SystemError) -> Bool {
        try ResultDraft(of: id, rest).stage(in: work)
        do {
            try work.rename(WorkEntry.result(of: id), to: held, as: name.bytes)
        } catch {
            try work.unlink(WorkEntry.result(of: id))
            guard error.isAlreadyThere else { throw error }
            return false
        }
        try held.sync(.holdFolder)
        return true
    }

    // MARK: Back to new/

    /// Moves a parked file to `new/`, under its own name there or the next number when that is taken; synced. What is beside it
    /// stays: a claim reads it.
    ///
    /// - Returns: The name it has there; `nil` when it is gone.
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; it is where it was.
    package func release(_ file: SeenFile) throws(SystemError) -> FileName? {
        try publish(file, from: held, as: file.name)
    }

    /// Moves a job that is over from its archive to `new/`; synced. Its result file goes then.
    ///
    /// - Parameters:
    ///   - place: Where it is.
    ///   - wanted: The name it is to have, or the next number when that is taken.
    ///   - rest: The bytes of the file in `hold/` that says what is left of it; `nil`: all of it is sent.
    /// - Returns: Its name there, and that of the file in `hold/`; `nil` when it is gone.
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; it is where it was.
    package func takeOut(
        _ place: ArchivePlace, as wanted: FileName, leaving rest: [UInt8]?
    ) throws(SystemError) -> ParkedFile? {
        guard let day = try openDayIfThere(place.archiveDay), let status = try day.status(of: place.name.bytes) else {
            return nil
        }
        let restName: FileName? = if let rest { try leave(rest, besides: wanted) } else { nil }
        do {
            let file = SeenFile(name: place.name, status: status)
            guard let name = try publish(file, from: day, as: wanted) else {
                if let restName { try held.unlink(restName.bytes) }
                return nil
            }
            if let result = place.name.result { try day.unlink(result.bytes) }
            return ParkedFile(name: name, rest: restName)
        } catch {
            if let restName, try day.status(of: place.name.bytes) != nil { try held.unlink(restName.bytes) }
            throw error
        }
    }

    /// Puts a file into `hold/` under the first of its names that is free, and returns that.
    func leave(_ rest: [UInt8], besides wanted: FileName) throws(SystemError) -> FileName {
        let id = JobID(bits: 0)
        var number = 0
        while true {
            number += 1
            let name = wanted.numbered(number, toFit: FileName.byteLimitWithRest)
            // A job of that name that comes to be parked is to have its own beside it.
            guard let restName = name.rest, try held.status(of: name.bytes) == nil else { continue }
            if try leave(rest, of: id, as: restName) { return restName }
        }
    }

    /// Moves a file to `new/`, under the first of its names that is free there; synced.
    ///
    /// - Throws: `SystemError`: EIO, ENOSPC and the like; it is where it was.
    func publish(
        _ file: SeenFile, from source: Directory, as wanted: FileName
    ) throws(SystemError) -> FileName? {
        do {
            var number = 1
            while try !move(file, from: source, to: new, as: wanted.numbered(number)) { number += 1 }
            try new.sync()
            try source.sync()
            return wanted.numbered(number)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    // MARK: What is there

    /// How a file in `hold/` looks now; `nil` when it is not there or its name is never a job's.
    ///
    /// - Throws: `SystemError`: EIO and the like.
    package func lookInHold(_ name: FileName) throws(SystemError) -> SeenFile? {
        guard name.isJob, let status = try held.status(of: name.bytes) else { return nil }
        return SeenFile(name: name, status: status)
    }

    /// The names in `hold/` of files that say what is left of jobs.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func rests() throws(SystemError) -> [FileName] {
        var rests: [FileName] = []
        var listing = try held.listing()
        while let entry = try listing.next() {
            if let name = FileName(bytes: entry.name), name.isRest { rests.append(name) }
        }
        return rests
    }

    /// Those of the files with these numbers that are in `hold/`, `new/` or `work/`. Costs a listing of all three, and a look at
    /// each file if one is nowhere.
    ///
    /// - Throws: `SystemError`: one cannot be read, and nothing is known of the rest.
    package func present(of inodes: Set<UInt64>) throws(SystemError) -> Set<UInt64> {
        Set(try find(inodes, in: [held, work, new]).keys)
    }

    /// Whether the file with this number is in `hold/`. Costs a listing of it.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func isInHold(_ inode: UInt64) throws(SystemError) -> Bool {
        try !namesInHold(of: [inode]).isEmpty
    }

    /// The names in `hold/` of those of the files with these numbers that are there. Costs a listing of it, and a look at each
    /// file if one is not there.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func namesInHold(of inodes: Set<UInt64>) throws(SystemError) -> [UInt64: Set<FileName>] {
        try find(inodes, in: [held])
    }

    /// The names in `new/` of those of the files with these numbers that are there, as far as a listing tells the numbers.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func namesInNew(of inodes: Set<UInt64>) throws(SystemError) -> [UInt64: [FileName]] {
        guard !inodes.isEmpty else { return [:] }
        var names: [UInt64: [FileName]] = [:]
        var listing = try new.listing()
        while let entry = try listing.next() {
            guard inodes.contains(entry.inode), let name = FileName(bytes: entry.name) else { continue }
            names[entry.inode, default: []].append(name)
        }
        return names
    }

    /// Whether the file with this number is in `failed/`, in the folder of that day or a later one. Costs a listing of each.
    ///
    /// - Throws: `SystemError`: one cannot be read.
    package func isInFailed(_ inode: UInt64, since day: String) throws(SystemError) -> Bool {
        for name in try days(of: .failed) where name >= day {
            guard let folder = try openDayIfThere(ArchiveDay(folder: .failed, day: name)) else { continue }
            var listing = try folder.listing()
            while let entry = try listing.next() {
                if entry.inode == inode { return true }
            }
        }
        return false
    }

    private func find(
        _ inodes: Set<UInt64>, in folders: [Directory]
    ) throws(SystemError) -> [UInt64: Set<FileName>] {
        var found: [UInt64: Set<FileName>] = [:]
        // On stacked filesystems a listing may tell other numbers than a look.
        for looksClosely in [false, true] {
            for folder in folders where found.count < inodes.count {
                var listing = try folder.listing()
                while let entry = try listing.next() {
                    let inode: UInt64? = try looksClosely ? folder.status(of: entry.name)?.inode : entry.inode
                    guard let inode, inodes.contains(inode), let name = FileName(bytes: entry.name) else { continue }
                    found[inode, default: []].insert(name)
                }
            }
        }
        return found
    }
}

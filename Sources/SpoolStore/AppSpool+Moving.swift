import APNSModel
import LinuxIO
import SpoolModel

extension AppSpool {
    /// Moves a file unless another file has the new name. After an error, the content of the directories decides.
    ///
    /// Returns `false` if the name is taken. The same file under both names is an interrupted move, which it completes.
    func move(
        _ file: SeenFile, from source: Directory, to target: Directory, as name: FileName
    ) throws(SystemError) -> Bool {
        do {
            try source.rename(file.name.bytes, to: target, as: name.bytes)
            return true
        } catch {
            let there = try target.status(of: name.bytes)
            if let there, there.inode == file.status.inode, there.device == file.status.device {
                try source.unlink(file.name.bytes)
                return true
            }
            if error.isAlreadyThere { return false }
            throw error
        }
    }

    /// Whether a moved file is the one that was seen before, with the same bytes as far as metadata can tell.
    ///
    /// The inode alone proves little, because it is reused. The mtime is compared only on a local filesystem, because
    /// replicas of a shared one may differ in it. The ctime is not compared, because the move itself changes it.
    func isUnchanged(_ now: FileStatus, since then: FileStatus) -> Bool {
        now.kind == then.kind && now.isSameFile(as: then)
            && (filesystem.isShared || now.modifiedAt == then.modifiedAt)
    }

    /// Moves a file back to `new/` and returns its name there. If the producer has published another file by that name,
    /// both are jobs.
    func putBack(_ entry: FileName, from source: Directory, as name: FileName) throws(SystemError) -> FileName {
        var number = 1
        while true {
            do {
                try source.rename(entry.bytes, to: new, as: name.numbered(number).bytes)
                return name.numbered(number)
            } catch {
                guard error.isAlreadyThere else { throw error }
                number += 1
            }
        }
    }

    func archive(_ folder: ArchiveFolder) -> Directory {
        switch folder {
        case .done: done
        case .failed: failed
        }
    }

    /// Opens a day's folder. Creates it for the first job of the day.
    func openDay(_ day: ArchiveDay) throws(SystemError) -> Directory {
        if let open = openDays?[day] { return open }
        let opened = try openDayAnew(day)
        openDays?[day] = opened
        return opened
    }

    private func openDayAnew(_ day: ArchiveDay) throws(SystemError) -> Directory {
        let folder = archive(day.folder)
        do {
            return try folder.openChild(Array(day.day.utf8))
        } catch {
            guard error.isNotFound else { throw error }
            do {
                return try folder.makeChild(Array(day.day.utf8), mode: 0o750)
            } catch {
                guard error.isNotFound else { throw error }
                return try makeAgain(day.folder).makeChild(Array(day.day.utf8), mode: 0o750)
            }
        }
    }

    /// Finds and reserves a name that neither a job nor a result has: doubles the number, then bisects.
    func freePlace(
        for name: FileName, in day: ArchiveDay, withResult: Bool
    ) throws(SystemError) -> ArchivePlace {
        let directory = try openDay(day)
        let limit = withResult ? FileName.byteLimitWithResult : FileName.byteLimit
        func place(_ number: Int) -> ArchivePlace {
            ArchivePlace(folder: day.folder, day: day.day, name: name.numbered(number, toFit: limit))
        }
        var (taken, free) = (0, 1)
        while try isTaken(place(free), in: directory) { (taken, free) = (free, free * 2) }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            if try isTaken(place(middle), in: directory) { taken = middle } else { free = middle }
        }
        reserved.insert(place(free))
        return place(free)
    }

    private func isTaken(_ place: ArchivePlace, in directory: Directory) throws(SystemError) -> Bool {
        if reserved.contains(place) { return true }
        if try directory.status(of: place.name.bytes) != nil { return true }
        guard let result = place.name.result else { return false }
        return try directory.status(of: result.bytes) != nil
    }
}

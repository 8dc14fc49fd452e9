package import JobFormat
package import LinuxIO
package import PushModel

/// An app's `done/` and `failed/`: the places of finished jobs, by day, and their result files.
///
/// Never overwrites a file. Calls block.
package final class Archives {
    private let home: Directory
    /// `work/<node>/`, where results are staged and moves under way are noted.
    private let work: Directory
    private var done: Directory
    private var failed: Directory
    /// Places given to jobs that have not been moved yet.
    private(set) var reserved: Set<ArchivePlace> = []
    private var dayNames = DayNames()
    /// The day of the last place that was chosen, by its number since 1970 and its name.
    private var today = (number: Int64.min, name: "")
    /// Day folders that are kept open for now; `nil` to keep none open.
    private var openDays: [(day: ArchiveDay, folder: Directory)]?
    /// The day folders into which files moved since the last `settle`.
    private var unsettled: Set<ArchiveDay> = []
    /// Whether all moves before this run survive a power loss; a daemon that died may have left some.
    package private(set) var isSettled = false

    var waitsForServer = false

    init(_ done: Directory, _ failed: Directory, in home: Directory, from work: Directory) {
        (self.done, self.failed, self.home, self.work) = (done, failed, home, work)
    }

    // MARK: Places

    /// Chooses the archive place of a job in advance, so that its result line and the journal can name it.
    ///
    /// The place is free now, and this object gives it to no other job. Costs O(log n) lookups if n files have the name.
    ///
    /// - Throws: `SystemError`: the day's folder cannot be created or read.
    package func place(
        for name: FileName, in folder: ArchiveFolder, at time: WallTime, withResult: Bool
    ) throws(SystemError) -> ArchivePlace {
        let number = time.epochSeconds.quotientRoundedDown(86_400)
        if number != today.number { today = (number, time.day) }
        return try freePlace(for: name, in: ArchiveDay(folder: folder, day: today.name), withResult: withResult)
    }

    /// Finds and reserves a name that neither a job nor a result has: doubles the number, then bisects.
    private func freePlace(
        for name: FileName, in day: ArchiveDay, withResult: Bool
    ) throws(SystemError) -> ArchivePlace {
        let directory = try openDay(day)
        let limit = withResult ? FileName.byteLimitWithResult : FileName.byteLimit
        func place(_ number: Int) -> ArchivePlace {
            ArchivePlace(folder: day.folder, day: day.day, name: name.numbered(number, toFit: limit))
        }
        var (taken, free, found) = (0, 1, place(1))
        while try isTaken(found, in: directory) { (taken, free, found) = (free, free * 2, place(free * 2)) }
        while free - taken > 1 {
            let middle = (taken + free) / 2
            let tried = place(middle)
            if try isTaken(tried, in: directory) { taken = middle } else { (free, found) = (middle, tried) }
        }
        reserved.insert(found)
        return found
    }

    private func isTaken(_ place: ArchivePlace, in directory: Directory) throws(SystemError) -> Bool {
        if reserved.contains(place) { return true }
        if dayNames.lack(place) { return false }
        if try directory.status(of: place.name.bytes) != nil { return true }
        guard let result = place.name.result else { return false }
        return try directory.status(of: result.bytes) != nil
    }

    /// Reserves a place recorded in the journal, so that no other job gets it.
    package func reserve(_ place: ArchivePlace) { reserved.insert(place) }

    /// Has the kernel learn side by side whether done jobs' names and results are taken, where that waits for a server.
    package func lookAhead(for names: @autoclosure () -> [FileName], at time: WallTime) {
        guard waitsForServer, let day = try? openDayIfThere(ArchiveDay(folder: .done, day: time.day)) else {
            return
        }
        _ = SideBySide.map(names().flatMap { [$0, $0.result ?? $0] }) { try? day.status(of: $0.bytes) }
    }

    // MARK: Moves

    /// Moves jobs without results side by side, where that waits for a server. Not synced. `archive` moves those not returned.
    package func moveAhead(_ jobs: @autoclosure () -> [(job: ClaimedJob, place: ArchivePlace)]) -> Set<JobID> {
        guard waitsForServer else { return [] }
        let moves = jobs().filter(\.job.hasWholeName).compactMap { job, place in
            (try? openDay(place.archiveDay)).map { (job: job, day: $0, place: place) }
        }
        let areMoved = SideBySide.map(moves) { [work] move in
            (try? move.job.claim.move(from: work, to: move.day, as: move.place.name)) == true
        }
        let moved = zip(moves, areMoved).filter(\.1).map(\.0)
        reserved.subtract(moved.map(\.place))
        unsettled.formUnion(moved.map(\.place.archiveDay))
        return Set(moved.map(\.job.id))
    }

    /// Moves a claimed job to its place, next to its result file if it has one.
    ///
    /// Never overwrites a file: if the place is taken, the job gets the next number. The result is complete and synced
    /// before the job appears, so a reader that finds a job without a result need not wait for one. Calling it again
    /// after a crash completes the move. Not synced.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - place: The target, from `place(for:in:at:withResult:)`.
    ///   - result: The bytes of its result file; `nil` if it has none.
    ///   - isStaged: Whether a `ResultDraft` of them is already staged; if not, it is staged now.
    /// - Returns: the job's final place.
    /// - Throws: `SystemError`: for example ENOSPC or EIO. The job is in one of the two places; a later call continues
    ///   from there.
    package func archive(
        _ job: ClaimedJob, at place: ArchivePlace, result: [UInt8]?, isStaged: Bool = false
    ) throws(SystemError) -> ArchivePlace {
        let draft = result.map { ResultDraft(of: job.id, $0) }
        let archiving = Archiving(
            name: job.name, file: job.claim, source: work, work: work, draft: draft, isStaged: isStaged)
        let final = try bring(archiving, to: place)
        if !job.hasWholeName { try work.unlink(WorkEntry.fullName(of: job.id)) }
        return final
    }

    /// Moves a file and its result file to a place in an archive, or to the next number if the place is taken.
    func bring(_ archiving: Archiving, to first: ArchivePlace) throws(SystemError) -> ArchivePlace {
        let day = try openDay(first.archiveDay)
        var (archiving, place) = (archiving, first)
        defer { reserved.remove(place) }
        unsettled.insert(place.archiveDay)
        while true {
            dayNames.note(place, withResult: archiving.draft != nil)
            if try archiving.move(to: day, as: place) { break }
            reserved.remove(place)
            place = try freePlace(for: archiving.name, in: place.archiveDay, withResult: archiving.draft != nil)
        }
        if openDays == nil { dayNames.settle(place.archiveDay, in: day) }
        try archiving.removeNote()
        return place
    }

    /// Removes the result file that an interrupted move left without its job, and the note of the move.
    func dropUnfinished(_ id: JobID) throws(SystemError) {
        if let place = try Archiving.notedPlace(of: id, in: work), let day = try openDayIfThere(place.archiveDay) {
            if let resultName = place.name.result, try day.status(of: place.name.bytes) == nil {
                try day.unlink(resultName.bytes)
            }
        }
        try work.unlink(WorkEntry.place(of: id))
    }

    /// Makes the moves so far of the app's jobs survive a power loss, other than those that people made. Call it before a
    /// folder that files have left is synced: some filesystems (older btrfs) lose a file if that folder is synced before the
    /// one that it came to.
    ///
    /// Syncs the filesystem if the moves before this run may not be safe, which takes long while other programs write much.
    ///
    /// - Throws: `SystemError`; final, unless the volume was full and the whole filesystem was synced.
    package func settle() throws(SystemError) {
        if isSettled {
            for day in unsettled { try openDayIfThere(day)?.sync(.archives) }
            try work.sync(.earlierMoves)
        } else {
            try work.syncFilesystem(.earlierMoves)
            isSettled = true
        }
        unsettled = []
    }

    /// Records that the moves before this run are safe: there were none, or a sync of the filesystem has begun and succeeded
    /// since this object was created.
    package func noteSettled() { isSettled = true }

    // MARK: Day folders

    /// Keeps day folders open while `body` places or archives many jobs, instead of opening one for each job.
    package func keepingDaysOpen<Value>(_ body: () -> Value) -> Value {
        openDays = []
        defer {
            for (day, folder) in openDays ?? [] { dayNames.settle(day, in: folder) }
            openDays = nil
        }
        return body()
    }

    /// Opens a day's folder. Creates it for the first job of the day.
    func openDay(_ day: ArchiveDay) throws(SystemError) -> Directory {
        if let open = openDays?.first(where: { $0.day == day }) { return open.folder }
        let opened = try openDayAnew(day)
        openDays?.append((day, opened))
        if !waitsForServer { dayNames.learn(day, in: opened) }
        return opened
    }

    private func openDayAnew(_ day: ArchiveDay) throws(SystemError) -> Directory {
        let folder: Directory
        do {
            folder = try directory(of: day.folder)
        } catch {
            guard error.isNotFound else { throw error }
            folder = try home.makeChild(Array(day.folder.rawValue.utf8), mode: 0o750)
        }
        return try folder.makeChild(Array(day.day.utf8), mode: 0o750)
    }

    /// Removes the empty folder of a day.
    func remove(_ day: ArchiveDay) throws(SystemError) {
        try directory(of: day.folder).removeChild(Array(day.day.utf8))
        unsettled.remove(day)
    }

    func openDayIfThere(_ day: ArchiveDay) throws(SystemError) -> Directory? {
        do {
            return try directory(of: day.folder).openChild(Array(day.day.utf8))
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Returns the folder that has an archive's path now: operators move or remove the whole folder to make room.
    ///
    /// - Throws: `SystemError`: ENOENT if there is none.
    func directory(of folder: ArchiveFolder) throws(SystemError) -> Directory {
        let (name, known) = (Array(folder.rawValue.utf8), folder == .done ? done : failed)
        if try FolderPlace.entry(name, of: home).leads(to: known) { return known }
        let found = try home.openChild(name)
        // Moves into the earlier one may not be safe yet; the sync of the filesystem covers them.
        isSettled = false
        switch folder {
        case .done: done = found
        case .failed: failed = found
        }
        return found
    }

    // MARK: Searching

    /// Returns the days of an archive, the newest first.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func days(of folder: ArchiveFolder) throws(SystemError) -> [String] {
        let names = try names(in: folder).compactMap { String(validating: $0, as: UTF8.self) }
        // The format of `WallTime.day`. Other folders are foreign.
        let isDay = { (name: String) in
            name.utf8.count == 10 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2D }
        }
        return names.filter(isDay).sorted(by: >)
    }

    private func names(in folder: ArchiveFolder) throws(SystemError) -> [[UInt8]] {
        do {
            return try directory(of: folder).names()
        } catch {
            guard error.isNotFound else { throw error }
            return []
        }
    }

    /// Returns the places of a day's jobs that have a result file, in no particular order.
    ///
    /// - Throws: `SystemError`: the day's folder cannot be read.
    package func places(of day: String, in folder: ArchiveFolder) throws(SystemError) -> [ArchivePlace] {
        guard let directory = try openDayIfThere(ArchiveDay(folder: folder, day: day)) else { return [] }
        var places: [ArchivePlace] = []
        var listing = try directory.listing()
        while let entry = try listing.next() {
            guard let name = FileName(bytes: entry.name)?.jobOfResult else { continue }
            places.append(ArchivePlace(folder: folder, day: day, name: name))
        }
        return places
    }

    /// Returns the status of the file at a place that was given to a job.
    ///
    /// - Throws: `SystemError`: the archive cannot be read.
    package func status(at place: ArchivePlace) throws(SystemError) -> FileStatus? {
        guard let day = try openDayIfThere(place.archiveDay) else { return nil }
        return try day.status(of: place.name.bytes)
    }

    /// Returns the bytes of the file at a place in an archive; `nil` if there is none, or it is longer than `limit`.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func contents(at place: ArchivePlace, limit: Int) throws(SystemError) -> [UInt8]? {
        guard let day = try openDayIfThere(place.archiveDay) else { return nil }
        return try day.contentsIfThere(of: place.name.bytes, limit: limit)
    }

    /// Returns a job's result file; `nil` if there is none, or it is longer than `limit`.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func result(at place: ArchivePlace, limit: Int) throws(SystemError) -> [UInt8]? {
        guard let day = try openDayIfThere(place.archiveDay), let name = place.name.result else { return nil }
        return try day.contentsIfThere(of: name.bytes, limit: limit)
    }

    /// Returns the first bytes of a job's result file, which contain the names of the job; `nil` if there is none.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func resultHead(at place: ArchivePlace) throws(SystemError) -> [UInt8]? {
        guard let day = try openDayIfThere(place.archiveDay), let name = place.name.result else { return nil }
        do {
            var bytes: [UInt8] = []
            _ = try day.openForReading(name.bytes).read(2048, at: 0, appendingTo: &bytes)
            return bytes
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Whether a file with this inode is in `failed/`, in the folder of `day` or a later one. Costs a listing of each.
    ///
    /// - Throws: `SystemError`: a folder cannot be read.
    package func hasFailed(_ inode: UInt64, since day: String) throws(SystemError) -> Bool {
        for name in try days(of: .failed) where name >= day {
            guard let folder = try openDayIfThere(ArchiveDay(folder: .failed, day: name)) else { continue }
            var listing = try folder.listing()
            while let entry = try listing.next() {
                if entry.inode == inode { return true }
            }
        }
        return false
    }

    /// Removes a result file whose job has been removed.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func dropLoneResult(of place: ArchivePlace) throws(SystemError) {
        guard let day = try openDayIfThere(place.archiveDay), let result = place.name.result,
            try day.status(of: place.name.bytes) == nil
        else { return }
        try day.unlink(result.bytes)
    }

    /// Makes an archived job, if it is still there, survive a power loss: its bytes, and its name in the day's folder.
    ///
    /// - Throws: `SystemError`; final, as for every failed sync.
    package func syncJob(at place: ArchivePlace) throws(SystemError) {
        guard let day = try openDayIfThere(place.archiveDay), try day.status(of: place.name.bytes) != nil else {
            return
        }
        try day.openForReading(place.name.bytes).sync(.jobFile)
        try day.sync(.archives)
    }
}

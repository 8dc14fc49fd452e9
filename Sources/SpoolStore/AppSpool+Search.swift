import APNSModel
package import LinuxIO
import SpoolModel

// Searching for finished jobs.
extension AppSpool {
    /// Returns the days of an archive, the newest first.
    ///
    /// - Throws: `SystemError`: it cannot be read.
    package func days(of folder: ArchiveFolder) throws(SystemError) -> [String] {
        let names = try archive(folder).names().compactMap { String(validating: $0, as: UTF8.self) }
        // The format of `WallTime.day`. Other folders are foreign.
        let isDay = { (name: String) in
            name.utf8.count == 10 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2D }
        }
        return names.filter(isDay).sorted(by: >)
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

    /// Removes a result file whose job has been removed.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func dropLoneResult(of place: ArchivePlace) throws(SystemError) {
        guard let day = try openDayIfThere(place.archiveDay), let result = place.name.result,
            try day.status(of: place.name.bytes) == nil
        else { return }
        try day.unlink(result.bytes)
    }

    /// Makes changes in a day's folder survive a power loss.
    ///
    /// - Throws: `SystemError`; final, as for every failed sync.
    package func syncDay(of place: ArchivePlace) throws(SystemError) {
        try openDayIfThere(place.archiveDay)?.sync(.archives)
    }

    /// Returns the first bytes of a job's result file, which contain the names of the job; `nil` if there is none.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func resultHead(at place: ArchivePlace) throws(SystemError) -> [UInt8]? {
        try readResult(at: place) { (file) throws(SystemError) in
            var bytes: [UInt8] = []
            _ = try file.read(2048, at: 0, appendingTo: &bytes)
            return bytes
        }
    }

    /// Returns a job's result file; `nil` if there is none, or it is longer than `limit`.
    ///
    /// - Throws: `SystemError`: for example EIO.
    package func result(at place: ArchivePlace, limit: Int) throws(SystemError) -> [UInt8]? {
        try readResult(at: place) { (file) throws(SystemError) in try file.contents(limit: limit) }
    }

    private func readResult(
        at place: ArchivePlace, _ read: (borrowing OpenFile) throws(SystemError) -> [UInt8]?
    ) throws(SystemError) -> [UInt8]? {
        guard let directory = try openDayIfThere(place.archiveDay), let name = place.name.result else { return nil }
        do {
            return try read(try directory.openForReading(name.bytes))
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }
}

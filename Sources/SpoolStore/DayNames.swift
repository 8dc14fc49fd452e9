import JobFormat
import LinuxIO
import SpoolModel

/// Which names are free in the day folders of an app's archives, as far as that is known without a look at each.
///
/// A folder is listed once, and what comes there is noted. Whether anybody else has changed it since tells its own time, which
/// is compared once for many names. Use it only where no other host puts files there: its clock may set that time.
/// Takes up to 1 MiB for each archive.
struct DayNames {
    private struct Names {
        let day: String
        /// The state of the folder when nobody but this object had changed it.
        var folder: FileStatus
        /// The hashes of the names that are there or have been; `nil` if there are too many.
        var hashes: Set<Int>?
        /// Whether a name was noted since then.
        var isChanged = false

        mutating func insert(_ name: FileName) {
            isChanged = true
            hashes?.insert(name.hashValue)
            if let count = hashes?.count, count > limit { hashes = nil }
        }
    }

    /// How many names of a day are remembered, and how many are listed at most.
    private static let (limit, listingLimit) = (1 << 16, 1 << 12)

    private var days: [ArchiveFolder: Names] = [:]

    /// Whether neither a job nor a result has a place's name; `false` if that is unknown.
    func lack(_ place: ArchivePlace) -> Bool {
        guard let names = days[place.folder], names.day == place.day, let hashes = names.hashes else { return false }
        return !hashes.contains(place.name.hashValue)
            && place.name.result.map { !hashes.contains($0.hashValue) } ?? true
    }

    /// Notes that a job and its result, if it has one, come to a place, or that something is there.
    mutating func note(_ place: ArchivePlace, withResult: Bool) {
        guard days[place.folder]?.day == place.day else { return }
        days[place.folder]?.insert(place.name)
        if withResult, let result = place.name.result { days[place.folder]?.insert(result) }
    }

    /// Learns which names a day's folder has, unless that is known and nobody else has changed the folder since the last
    /// call of `settle`. Failures leave it unknown: then each name is looked up.
    mutating func learn(_ day: ArchiveDay, in folder: Directory) {
        let known = days[day.folder]
        // A late move to yesterday's folder does not make today's names unknown.
        if let known, known.day > day.day { return }
        guard let status = try? folder.status() else { return days[day.folder] = nil }
        guard known?.day != day.day || known?.folder != status else { return }
        days[day.folder] = (try? Self.names(in: folder)).map { Names(day: day.day, folder: status, hashes: $0) }
    }

    /// Accepts what has changed in a day's folder as changes that were noted.
    mutating func settle(_ day: ArchiveDay, in folder: Directory) {
        guard let known = days[day.folder], known.day == day.day, known.isChanged else { return }
        guard let status = try? folder.status(), status.inode == known.folder.inode else {
            return days[day.folder] = nil
        }
        days[day.folder]?.folder = status
        days[day.folder]?.isChanged = false
    }

    private static func names(in folder: Directory) throws(SystemError) -> Set<Int>? {
        var hashes: Set<Int> = []
        var listing = try folder.listing()
        while let entry = try listing.next() {
            guard hashes.count < listingLimit else { return nil }
            if let name = FileName(bytes: entry.name) { hashes.insert(name.hashValue) }
        }
        return hashes
    }
}

import JobFormat
import LinuxIO
import SpoolModel

/// Which names are taken in the day folders of an app's archives.
///
/// Looks a name up, unless it cannot be there: the folder was listed once, on a filesystem of this host alone, and whatever
/// came since was noted here. A name that has left the folder is looked up, and one that somebody has put there by hand is
/// found by the move to it, which overwrites nothing.
struct DayNames {
    /// How many names of a day are remembered, at 8 to 16 bytes each. With more, all are looked up.
    private static let limit = 1 << 16
    /// How many names are listed at most.
    private static let listingLimit = 1 << 12

    /// The hashes of the names in the day folder of each archive that was used last; `nil` if there are too many.
    private var days: [ArchiveFolder: (day: String, hashes: Set<Int>?)] = [:]
    /// Whether only this process puts files into the folders, apart from people.
    var isSole = false

    /// Whether a job or a result has a place's name.
    ///
    /// - Throws: `SystemError`: the folder cannot be read.
    mutating func has(_ place: ArchivePlace, in directory: Directory) throws(SystemError) -> Bool {
        let result = place.name.result
        if isSole {
            if days[place.folder]?.day != place.day { try list(place, directory) }
            if let hashes = days[place.folder]?.hashes {
                let isUnknown = result.map { !hashes.contains($0.hashValue) } ?? true
                if isUnknown, !hashes.contains(place.name.hashValue) { return false }
            }
        }
        if try directory.status(of: place.name.bytes) != nil { return true }
        guard let result else { return false }
        return try directory.status(of: result.bytes) != nil
    }

    /// Notes that a job has come to a place, or that somebody else's file is there.
    mutating func note(_ place: ArchivePlace, withResult: Bool) {
        guard isSole, days[place.folder]?.day == place.day else { return }
        days[place.folder]?.hashes?.insert(place.name.hashValue)
        if withResult, let result = place.name.result { days[place.folder]?.hashes?.insert(result.hashValue) }
        if let count = days[place.folder]?.hashes?.count, count > Self.limit { days[place.folder]?.hashes = nil }
    }

    private mutating func list(_ place: ArchivePlace, _ directory: Directory) throws(SystemError) {
        var hashes: Set<Int> = []
        var listing = try directory.listing()
        while let entry = try listing.next() {
            guard hashes.count < Self.listingLimit else {
                days[place.folder] = (place.day, nil)
                return
            }
            if let name = FileName(bytes: entry.name) { hashes.insert(name.hashValue) }
        }
        days[place.folder] = (place.day, hashes)
    }
}

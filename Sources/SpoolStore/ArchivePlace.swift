import APNSModel
package import SpoolModel

/// Where a finished job goes.
package enum ArchiveFolder: String, Hashable, Sendable {
    /// Every notification has an outcome, and at least one was accepted.
    case done
    /// The rest.
    case failed
}

/// One day of one archive, `done/2026-11-21`.
struct ArchiveDay: Hashable {
    let folder: ArchiveFolder
    let day: String
}

/// The name and folder of an archived job.
package struct ArchivePlace: Hashable, Sendable {
    /// The archive.
    package let folder: ArchiveFolder
    /// The UTC day, `2026-11-21`.
    package let day: String
    /// The name there, which may be another than it was dropped by.
    package let name: FileName

    /// A place as the journal told it.
    package init(folder: ArchiveFolder, day: String, name: FileName) {
        self.folder = folder
        self.day = day
        self.name = name
    }

    /// Reads a path as `path` tells it.
    ///
    /// - Returns: `nil` when it is none.
    package init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let folder = ArchiveFolder(rawValue: String(parts[0])),
            FileName(String(parts[1])) != nil, let name = FileName(escaped: String(parts[2]))
        else { return nil }
        self.init(folder: folder, day: String(parts[1]), name: name)
    }

    /// The path below the app's directory, the name escaped: `done/2026-11-21/job.json`.
    package var path: String { String(spelledBy: appendPath) }

    /// The path below the spool, of a job of this app: `weather/done/2026-11-21/job.json`.
    package func path(of app: String) -> String {
        String(spelledBy: { path in
            path.append(contentsOf: app.utf8)
            path.append(UInt8(ascii: "/"))
            appendPath(to: &path)
        })
    }

    private func appendPath(to path: inout [UInt8]) {
        path.append(contentsOf: folder.rawValue.utf8)
        path.append(UInt8(ascii: "/"))
        path.append(contentsOf: day.utf8)
        path.append(UInt8(ascii: "/"))
        name.appendEscaped(to: &path)
    }

    var archiveDay: ArchiveDay { ArchiveDay(folder: folder, day: day) }
}

package import JobFormat
package import LinuxIO

/// The content of an app's `done/` and `failed/`, read without a daemon or its lock.
package enum ArchiveListing {
    /// One day of one archive.
    package struct Day: Sendable {
        /// The app.
        package let app: String
        /// The archive.
        package let folder: ArchiveFolder
        /// The UTC day, `2026-11-21`.
        package let name: String
        private let archive: Directory

        fileprivate init(_ app: String, _ folder: ArchiveFolder, _ name: String, in archive: Directory) {
            (self.app, self.folder) = (app, folder)
            (self.name, self.archive) = (name, archive)
        }

        /// Opens its folder.
        ///
        /// - Throws: `SystemError`: ENOENT if it has been removed meanwhile, EACCES without read permission.
        package func open() throws(SystemError) -> Directory {
            try archive.openChild(Array(name.utf8))
        }

        /// Calls `body` with each of its jobs, ordered by name; with none if the folder has been removed meanwhile.
        ///
        /// - Throws: `SystemError`: EACCES without read permission.
        package func forEachJob(_ body: (FileName, FileStatus) -> Void) throws(SystemError) {
            do throws(SystemError) {
                let folder = try open()
                for bytes in try folder.names().sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                    guard let name = FileName(bytes: bytes), name.isJob, let status = try folder.status(of: bytes)
                    else {
                        continue
                    }
                    body(name, status)
                }
            } catch {
                guard error.isNotFound else { throw error }
            }
        }

        /// The path of a job in it, relative to the spool, as `job` lines give it.
        package func path(of job: FileName) -> String { "\(app)/\(folder.rawValue)/\(name)/\(job.escaped)" }
    }

    /// Returns the days of both archives of an app, the newest first, and the folders without read permission.
    ///
    /// - Throws: `SystemError`: the app has no folder, or one cannot be read for another reason.
    package static func days(
        of app: String, in spool: Directory
    ) throws(SystemError) -> (days: [Day], unreadable: [String]) {
        let home = try spool.openChild(Array(app.utf8))
        var days: [Day] = []
        var unreadable: [String] = []
        for folder in [ArchiveFolder.done, .failed] {
            do {
                let archive = try home.openChild(Array(folder.rawValue.utf8))
                for name in try archive.names() {
                    guard let text = String(validating: name, as: UTF8.self), isDay(text) else { continue }
                    guard try archive.status(of: name)?.kind == .directory else { continue }
                    days.append(Day(app, folder, text, in: archive))
                }
            } catch {
                // A folder without archives is not an app's, or not yet.
                if error.isNotFound { continue }
                guard error.isRefusal else { throw error }
                unreadable.append("\(app)/\(folder.rawValue)")
            }
        }
        return (days.sorted { ($1.name, $0.folder.rawValue) < ($0.name, $1.folder.rawValue) }, unreadable)
    }

    private static func isDay(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        let isOfDigits = name.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2D }
        return isOfDigits && parts.map(\.utf8.count) == [4, 2, 2]
    }
}

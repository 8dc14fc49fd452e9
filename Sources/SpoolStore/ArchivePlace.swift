import Document
package import JobFormat
package import JournalModel
import PushModel

/// The archive for a finished job.
package enum ArchiveFolder: String, Hashable, Sendable {
    /// Every notification has an outcome, and at least one was accepted.
    case done
    /// All other finished jobs.
    case failed
}

/// One day of one archive, for example `done/2026-11-21`.
struct ArchiveDay: Hashable {
    let folder: ArchiveFolder
    let day: String

    /// Hashes the day alone: hardly any two places differ only in their archive, and it would be hashed as text.
    func hash(into hasher: inout Hasher) { hasher.combine(day) }
}

/// The folder and name of an archived job.
package struct ArchivePlace: Hashable, Sendable {
    /// The archive.
    package let folder: ArchiveFolder
    /// The UTC day, for example `2026-11-21`.
    package let day: String
    /// The job's name there, which may differ from the name it was dropped by.
    package let name: FileName

    /// Creates a place from its parts, as recorded in the journal.
    package init(folder: ArchiveFolder, day: String, name: FileName) {
        self.folder = folder
        self.day = day
        self.name = name
    }

    /// Parses a path in the form of `path`.
    ///
    /// - Returns: `nil` if it has another form.
    package init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let folder = ArchiveFolder(rawValue: String(parts[0])),
            FileName(String(parts[1])) != nil, let name = FileName(escaped: String(parts[2]))
        else { return nil }
        self.init(folder: folder, day: String(parts[1]), name: name)
    }

    /// The path below the app's directory, with the name escaped: `done/2026-11-21/job.json`.
    package var path: String { String(spelledBy: { appendPath(to: &$0) }) }

    /// The path below the spool for a job of the given app: `weather/done/2026-11-21/job.json`.
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

    /// Hashes the name alone, by which nearly all places differ.
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension ArchivePlace {
    /// Creates the place that the journal recorded for a job.
    package init(_ final: JournalFinal) {
        let folder: ArchiveFolder =
            switch final.conclusion.state {
            case .done: .done
            case .failed: .failed
            }
        self.init(folder: folder, day: final.day, name: final.name)
    }
}

package import JobFormat
package import PushModel

/// A file that is about to be read, named by a START record so that the daemon's deaths while reading it can be counted.
package struct JournalSubject: Hashable, Sendable {
    /// The app.
    package var app: String
    /// The name of the dropped file.
    package var name: FileName
    /// The device of the file.
    package var device: UInt64 = 0
    /// The inode of the file.
    package var inode: UInt64 = 0
    /// The file's ctime: other content under the same name is another subject.
    package var changedAt = WallTime(nanoseconds: 0)

    /// Creates a subject; the caller sets the other members.
    package init(app: String, name: FileName) {
        (self.app, self.name) = (app, name)
    }
}

/// How often the daemon died while it read a file.
package struct JournalSuspicion: Hashable, Sendable {
    /// The action for a suspect file.
    package enum Judgement: Hashable, Sendable {
        /// Read the file while no other is being read, so that the next death shows whether this file was the cause.
        case readAlone
        /// Move it to `hold/`, code `poison`.
        case hold
    }

    /// The number of deaths while this file was being read, alone or with others.
    package var deathCount: Int
    /// Whether the file was being read alone in one of them.
    package var wasAlone: Bool

    /// Creates a suspicion.
    package init(deathCount: Int, wasAlone: Bool) {
        (self.deathCount, self.wasAlone) = (deathCount, wasAlone)
    }

    /// Combines what two nodes know of the same file. The greater count counts, because one may know the other's deaths.
    package func combined(with other: JournalSuspicion?) -> JournalSuspicion {
        guard let other else { return self }
        return JournalSuspicion(
            deathCount: max(deathCount, other.deathCount), wasAlone: wasAlone || other.wasAlone)
    }

    /// The action for the file. It is held after two deaths only if it was being read alone in one of them.
    package var judgement: Judgement {
        deathCount >= 2 && wasAlone ? .hold : .readAlone
    }
}

package import APNSModel

/// A file that is about to be read: what a START record names, so that the daemon's death over it can be counted.
package struct JournalSubject: Hashable, Sendable {
    /// The app.
    package var app: String
    /// The file's name as it was dropped.
    package var name: FileName
    /// Its device.
    package var device: UInt64 = 0
    /// Its inode.
    package var inode: UInt64 = 0
    /// When it last changed (ctime): another content under the same name is another subject.
    package var changedAt = WallTime(nanoseconds: 0)

    /// Creates a subject; the other members are set by hand.
    package init(app: String, name: FileName) {
        (self.app, self.name) = (app, name)
    }
}

/// How often the daemon died while it read a file.
package struct JournalSuspicion: Hashable, Sendable {
    /// What to do with such a file.
    package enum Judgement: Hashable, Sendable {
        /// Read it while no other file is being read, so that the next death tells whether it was this one.
        case readAlone
        /// Move it to `hold/`, code `poison`.
        case hold
    }

    /// How often, this file alone or among others.
    package var deathCount: Int
    /// Whether it was once the only one being read.
    package var wasAlone: Bool

    /// Creates a suspicion.
    package init(deathCount: Int, wasAlone: Bool) {
        (self.deathCount, self.wasAlone) = (deathCount, wasAlone)
    }

    /// What to do with the file: the third reading is its last chance only if it has had one alone.
    package var judgement: Judgement {
        deathCount >= 2 && wasAlone ? .hold : .readAlone
    }
}

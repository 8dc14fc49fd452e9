import Glibc

extension DirectoryWatch {
    /// Which changes in a directory to watch.
    package enum Interest: Hashable, Sendable {
        /// Files that are published in it or written to.
        case files
        /// Files that appear in it, are closed by a writer, change their attributes, or are removed. Writes to a file
        /// that stays open, such as a log, are not reported.
        case allChanges
        /// Subdirectories that appear in it or are removed.
        case folders

        var mask: UInt32 {
            let always: Changes = [.selfRemoved, .selfMoved]
            // IN_ONLYDIR: fail unless it is a directory. IN_EXCL_UNLINK: no events for files that have been unlinked.
            let flags: UInt32 = 0x0100_0000 | 0x0400_0000
            switch self {
            case .files: return flags | always.union([.closed, .movedIn, .created, .modified]).rawValue
            case .allChanges:
                let all: Changes = [.attributes, .closed, .movedIn, .created, .removed, .movedOut]
                return flags | always.union(all).rawValue
            case .folders: return flags | always.union([.movedIn, .created, .removed, .movedOut]).rawValue
            }
        }
    }

    /// Kinds of events, as bits of inotify(7).
    package struct Changes: OptionSet, Hashable, Sendable {
        /// The kernel's mask.
        package let rawValue: UInt32

        /// Wraps the kernel's mask.
        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The file's bytes changed (IN_MODIFY).
        package static let modified = Changes(rawValue: 0x2)
        /// Its owner, permissions or times changed (IN_ATTRIB).
        package static let attributes = Changes(rawValue: 0x4)
        /// A writer closed it (IN_CLOSE_WRITE).
        package static let closed = Changes(rawValue: 0x8)
        /// It was renamed away (IN_MOVED_FROM).
        package static let movedOut = Changes(rawValue: 0x40)
        /// It was renamed in (IN_MOVED_TO). A correct producer publishes complete files this way.
        package static let movedIn = Changes(rawValue: 0x80)
        /// It was created or linked (IN_CREATE).
        package static let created = Changes(rawValue: 0x100)
        /// It was removed (IN_DELETE).
        package static let removed = Changes(rawValue: 0x200)
        /// The watched directory itself was removed (IN_DELETE_SELF).
        package static let selfRemoved = Changes(rawValue: 0x400)
        /// The watched directory itself was renamed (IN_MOVE_SELF).
        package static let selfMoved = Changes(rawValue: 0x800)
        /// Its filesystem was unmounted (IN_UNMOUNT).
        package static let unmounted = Changes(rawValue: 0x2000)
        /// The kernel stopped watching this directory (IN_IGNORED).
        package static let ignored = Changes(rawValue: 0x8000)
        /// The subject of the event is a directory (IN_ISDIR).
        package static let isDirectory = Changes(rawValue: 0x4000_0000)

        static let overflow = Changes(rawValue: 0x4000)
    }

    /// One event.
    package struct Event: Hashable, Sendable {
        /// The tag of the watched directory.
        package let tag: Int
        /// The changes.
        package let changes: Changes
        /// The name of the affected entry; empty for the directory itself.
        package let name: [UInt8]
    }

    /// What the watch reports.
    package enum Notice: Hashable, Sendable {
        /// An event.
        case event(Event)
        /// Events were lost: scan everything.
        case lost
    }
}

/// A directory cannot be watched, or no directory can: poll instead.
package struct WatchFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error from the kernel.
    package let cause: SystemError

    /// Wraps an error from the kernel.
    package init(_ cause: SystemError) {
        self.cause = cause
    }

    /// A remedy for the operator, if one is known.
    package var hint: String? {
        switch (cause.operation, cause.code) {
        case ("inotify_add_watch", ENOSPC): "raise fs.inotify.max_user_watches with sysctl"
        case ("inotify_init1", EMFILE): "raise fs.inotify.max_user_instances with sysctl, or the limit of open files"
        default: nil
        }
    }

    /// The cause and the hint in one line.
    package var description: String {
        hint.map { "\(cause); \($0)" } ?? cause.description
    }
}

/// struct inotify_event: watch number 4, mask 4, cookie 4, name length 4, then the name, padded with NULs.
struct RawWatchEvent {
    let number: Int32
    let mask: DirectoryWatch.Changes
    let name: [UInt8]

    /// Takes the first event off `bytes`; `nil` if no complete event is left.
    init?(decoding bytes: inout ArraySlice<UInt8>) {
        guard bytes.count >= 16 else { return nil }
        let head = bytes.prefix(16)
        func word(_ index: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(head[head.startIndex + 4 * index + $1]) << UInt32(8 * $1) }
        }
        let length = Int(word(3))
        guard bytes.count >= 16 + length else { return nil }
        number = Int32(bitPattern: word(0))
        mask = DirectoryWatch.Changes(rawValue: word(1))
        name = Array(bytes.dropFirst(16).prefix(length).prefix { $0 != 0 })
        bytes = bytes.dropFirst(16 + length)
    }
}

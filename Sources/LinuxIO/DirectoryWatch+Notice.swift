import Glibc

extension DirectoryWatch {
    /// What a directory is watched for.
    package enum Interest: Hashable, Sendable {
        /// Files that are published in it or written to.
        case files
        /// Files that appear in it, are closed by who wrote to them, change their rights, or go. What is written on and on
        /// without an end, such as a log, is not told of meanwhile.
        case allChanges
        /// Directories that appear in it or go.
        case folders

        var mask: UInt32 {
            let always: Changes = [.selfRemoved, .selfMoved]
            // IN_ONLYDIR and IN_EXCL_UNLINK: a directory and nothing else; no news of files that have no name any more.
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

    /// What happened, as bits of inotify(7).
    package struct Changes: OptionSet, Hashable, Sendable {
        /// The kernel's mask.
        package let rawValue: UInt32

        /// Takes the kernel's mask.
        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Its bytes changed (IN_MODIFY).
        package static let modified = Changes(rawValue: 0x2)
        /// Its owner, its rights or its times changed (IN_ATTRIB).
        package static let attributes = Changes(rawValue: 0x4)
        /// Somebody who had it open for writing closed it (IN_CLOSE_WRITE).
        package static let closed = Changes(rawValue: 0x8)
        /// It was renamed away (IN_MOVED_FROM).
        package static let movedOut = Changes(rawValue: 0x40)
        /// It was renamed in: published whole, if the producer knows what it does (IN_MOVED_TO).
        package static let movedIn = Changes(rawValue: 0x80)
        /// It was made or linked (IN_CREATE).
        package static let created = Changes(rawValue: 0x100)
        /// It was removed (IN_DELETE).
        package static let removed = Changes(rawValue: 0x200)
        /// The watched directory itself was removed (IN_DELETE_SELF).
        package static let selfRemoved = Changes(rawValue: 0x400)
        /// The watched directory itself was renamed (IN_MOVE_SELF).
        package static let selfMoved = Changes(rawValue: 0x800)
        /// Its filesystem was unmounted (IN_UNMOUNT).
        package static let unmounted = Changes(rawValue: 0x2000)
        /// The kernel watches this directory no longer (IN_IGNORED).
        package static let ignored = Changes(rawValue: 0x8000)
        /// What it happened to is a directory (IN_ISDIR).
        package static let isDirectory = Changes(rawValue: 0x4000_0000)

        static let overflow = Changes(rawValue: 0x4000)
    }

    /// One thing that happened.
    package struct Event: Hashable, Sendable {
        /// The watched directory.
        package let tag: Int
        /// What happened.
        package let changes: Changes
        /// To what in it; empty when it happened to the directory itself.
        package let name: [UInt8]
    }

    /// What the watch tells.
    package enum Notice: Hashable, Sendable {
        /// Something happened.
        case event(Event)
        /// Events were lost: scan everything.
        case lost
    }
}

/// A directory or everything could not be watched: poll it.
package struct WatchFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the kernel said.
    package let cause: SystemError

    /// Wraps what the kernel said.
    package init(_ cause: SystemError) {
        self.cause = cause
    }

    /// What the operator can do, where that is known.
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

/// struct inotify_event: number 4, mask 4, cookie 4, name length 4, then the name, padded with NUL.
struct RawWatchEvent {
    let number: Int32
    let mask: DirectoryWatch.Changes
    let name: [UInt8]

    /// Takes the first event off `bytes`; `nil` when no whole one is left.
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

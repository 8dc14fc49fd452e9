import APNSModel
import LinuxIO

/// What the host offers: its clock, and what the kernel allows.
struct HostFacts: Sendable {
    /// The time of day.
    var now: WallTime
    /// Whether anything keeps it right.
    var clock: ClockKeeping
    /// The latest time that the spool's own files have been written at; `nil`: they have not.
    var lastWritten: WallTime?
    /// How many files a process may have open at most; `nil`: not known.
    var openFiles: Int?
    /// How many folders a user may watch (inotify), and how many watchers there may be; `nil`: not known.
    var watches: Int?
    var watchers: Int?

    /// Asks the kernel. Blocks for files in memory.
    static func look() -> HostFacts {
        var facts = HostFacts(now: .now, clock: .now())
        facts.openFiles = try? OpenFileLimit.most()
        facts.watches = setting("fs/inotify/max_user_watches")
        facts.watchers = setting("fs/inotify/max_user_instances")
        return facts
    }

    private static func setting(_ name: String) -> Int? {
        var bytes: [UInt8] = []
        do throws(SystemError) {
            // It has no length that could be asked for, and is read in one go.
            _ = try OpenFile.open(path: "/proc/sys/" + name).read(64, at: 0, appendingTo: &bytes)
        } catch {
            return nil
        }
        return Int(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self))
    }
}

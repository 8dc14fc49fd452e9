import LinuxIO
import PushModel
import ServiceProcess

/// The state of the host: its clock, and the kernel's limits.
struct HostFacts: Sendable {
    /// The time of day.
    var now: WallTime
    /// Whether the clock is synchronized.
    var clock: ClockKeeping
    /// When the daemon last wrote its status file; `nil`: it has not.
    var lastWritten: WallTime?
    /// The most files that a process may have open; `nil`: unknown.
    var openFiles: Int?
    /// The most folders a user may watch, and the most inotify instances a user may have; `nil`: unknown.
    var watches: Int?
    var watchers: Int?

    /// Queries the kernel. Blocks for files in memory.
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
            // A file in /proc reports no length, so read it in one call.
            _ = try OpenFile.open(path: "/proc/sys/" + name).read(64, at: 0, appendingTo: &bytes)
        } catch {
            return nil
        }
        return Int(String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self))
    }
}

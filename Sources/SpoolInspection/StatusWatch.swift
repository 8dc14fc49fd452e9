package import Configuration
import Doctor
package import LinuxIO
import PushModel
import SpoolModel
import SpoolStore

/// Shows the status once per second: redrawn on a terminal, otherwise printed one after another.
package struct StatusWatch {
    /// The result of listing an app's `new/`.
    private struct Look {
        let waiting: StatusScreen.Waiting
        /// When to list it again.
        let nextAt: ContinuousClock.Instant
    }

    private let daemon: DaemonConfiguration
    private let wanted: [String]
    private var looks: [String: Look] = [:]

    /// Creates a watch of a daemon; only of these apps if any are named.
    package init(of daemon: DaemonConfiguration, apps: [String]) {
        (self.daemon, wanted) = (daemon, apps)
    }

    /// Shows the status until a key or a signal ends it.
    ///
    /// - Throws: `SystemError`: EPIPE if the reader has closed the pipe, or the terminal is gone.
    package mutating func run(until signals: BlockedSignals) throws(SystemError) {
        let console = try Console.open(signals)
        let isTerminal = StandardStream.output.isTerminal
        // Use the alternate screen, so that the old content comes back at the end, and hide the cursor.
        if isTerminal { StandardStream.output.write(Array("\u{1B}[?1049h\u{1B}[?25l".utf8)) }
        defer { if isTerminal { StandardStream.output.write(Array("\u{1B}[?25h\u{1B}[?1049l".utf8)) } }
        while true {
            let screen = screen()
            guard try console.show(isTerminal ? Self.drawn(screen) : Self.printed(screen)) else { return }
            switch console.next(within: .seconds(1)) {
            case .end, .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")): return
            case .key, .nothing: break
            }
        }
    }

    private static func drawn(_ screen: StatusScreen) -> [UInt8] {
        let size = StandardStream.output.terminalSize ?? (columns: 80, rows: 24)
        let lines = screen.lines(columns: size.columns, rows: size.rows)
        // Draw from the upper left corner, and clear the rest of each line and everything below the last one.
        return Array(("\u{1B}[H" + lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[K\u{1B}[J").utf8)
    }

    private static func printed(_ screen: StatusScreen) -> [UInt8] {
        let lines = screen.lines(columns: Int.max, rows: Int.max / 2)
        return Array((lines.joined(separator: "\n") + "\n\n").utf8)
    }

    private mutating func screen() -> StatusScreen {
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        var (status, fault): (SpoolStatus?, String?) = (nil, nil)
        do throws(SystemError) {
            let file = try StatusFile(spool: daemon.spool, node: daemon.node ?? Host.name)
            status = file.status?.limited(to: wanted)
            if status == nil { fault = "the daemon's status has another format version" }
        } catch {
            let silence =
                daemon.hasDaemon == true
                ? "the daemon is running, but its status cannot be read"
                : "no daemon is running (no status.json in \(daemon.spool))"
            fault = "\(silence): \(error)"
        }
        if status != nil, daemon.hasDaemon == false { fault = "the daemon ended without a clean shutdown" }
        if let status, now - status.writtenAt > SpoolStatus.interval * 2 {
            fault = "the daemon has not updated its status for \((now - status.writtenAt).inWords)"
        }
        look()
        return StatusScreen(status: status, fault: fault, waiting: looks.mapValues(\.waiting), now: now)
    }

    /// Lists each `new/`; the longer that takes, the longer the pause before the next time. Unreadable folders are left
    /// out.
    private mutating func look() {
        guard let root = try? Directory.open(path: daemon.spool), var apps = try? QueueListing.apps(in: root) else {
            return
        }
        if !wanted.isEmpty { apps.removeAll { !wanted.contains($0) } }
        looks = looks.filter { apps.contains($0.key) }
        for app in apps {
            let start = ContinuousClock.now
            if let last = looks[app], last.nextAt > start { continue }
            var waiting = StatusScreen.Waiting()
            let unreadable = try? QueueListing.forEach(of: app, in: root) { entry in
                guard entry.state == .waiting else { return }
                waiting.count += 1
                waiting.oldest = min(waiting.oldest ?? entry.since, entry.since)
            }
            guard let unreadable, !unreadable.contains(app), !unreadable.contains("\(app)/new") else {
                looks[app] = nil
                continue
            }
            let end = ContinuousClock.now
            looks[app] = Look(waiting: waiting, nextAt: end + start.duration(to: end) * 10)
        }
    }
}

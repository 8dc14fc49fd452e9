import APNSModel
import ArgumentParser
import Document
import JSON
import LinuxIO
import PushDaemon
import SpoolModel

/// `pushspool status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what the daemon and each app are doing.",
        discussion: """
            Reads what the daemon says of itself in <spool>/.pushspool/public/<node>/status.json, once a second while jobs \
            are under way and every 30 seconds otherwise. Exits with 75 if no daemon says anything.

            Example: pushspool status --config etc/pushspool.yaml
            """)

    @OptionGroup var options: ConfigurationOption

    @Flag(help: "Print the file as it is.")
    var json = false

    func run() throws {
        let set = ConfigurationLoader(path: options.config).load()
        guard !set.isDaemonBroken else {
            FindingList(set).note()
            throw ExitCode.badConfiguration
        }
        let node = set.daemon.node ?? Host.name
        let path = "\(set.daemon.spool)/.pushspool/public/\(node)"
        let bytes = try contents(of: path)
        var parser = JSON.Parser()
        guard let root = try? parser.parse(bytes).root, let status = SpoolStatus(root) else {
            Talk.complain(
                "\(path)/\(SpoolStatus.fileName) is not of this version",
                hint: "use the pushspool that the daemon is of")
            throw ExitCode.badInput
        }
        if json { StandardStream.output.write(bytes) } else { say(status) }
        let age = now - status.writtenAt
        guard age <= SpoolStatus.interval * 2 else {
            Talk.complain(
                "the daemon has said nothing for \(seconds(age))",
                hint: "see whether process \(status.processID) runs, and whether its disk answers")
            throw ExitCode.tryAgain
        }
    }

    private var now: WallTime { WallTime(nanoseconds: WallClock.nanoseconds()) }

    private func contents(of path: String) throws -> [UInt8] {
        do throws(SystemError) {
            let folder = try Directory.open(path: path)
            return try folder.contents(of: Array(SpoolStatus.fileName.utf8), limit: 64 << 20) ?? []
        } catch {
            Talk.complain(
                "no daemon says anything: \(error)", hint: "start one: pushspool run --config \(options.config)")
            throw ExitCode.tryAgain
        }
    }

    private func say(_ status: SpoolStatus) {
        let doing = status.isStopping ? "stopping" : "running"
        Talk.say("node \(status.node), process \(status.processID), \(doing), started \(status.startedAt.rfc3339)")
        let width = (status.apps.map(\.name.count) + [3]).max() ?? 3
        Talk.say(row(["app", "state", "jobs", "gateway"], nameWidth: width))
        for app in status.apps {
            var line = row([app.name, app.state.rawValue, "\(app.jobCount)", app.gateway ?? ""], nameWidth: width)
            if let since = app.since { line += "  for \(seconds(now - since))" }
            Talk.say(line)
        }
    }

    private func row(_ cells: [String], nameWidth: Int) -> String {
        let widths = [nameWidth, 12, -6, 0]
        let line = zip(cells, widths).map(padded).joined(separator: "  ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }

    /// To the left, or to the right with a negative width.
    private func padded(_ text: String, _ width: Int) -> String {
        let space = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? space + text : text + space
    }

    private func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}

import Configuration
import LinuxIO
import PushModel

/// Evaluates the state of the host.
struct HostJudgement {
    /// The facts.
    let facts: HostFacts
    /// The number of apps, and whether the daemon listens for metrics requests.
    let appCount: Int
    var hasMetricsListener = false

    /// 2025-11-01: this program was written later, so an earlier time is wrong.
    static let earliest = WallTime(epochSeconds: 1_761_955_200)
    /// A century later: a later time was set by mistake.
    static let latest = WallTime(epochSeconds: 1_761_955_200 + 3_155_760_000)
    /// The largest difference between two clocks of one host: file timestamps come from a coarse clock.
    static let slack = Duration.seconds(60)
    /// The number of folders watched for each app, and in addition to those.
    static let watchesOfApp = 2
    static let watchesOfDaemon = 16
    /// The number of inotify instances of the daemon.
    static let watchersOfDaemon = 2

    /// The findings.
    var findings: [DoctorFinding] { clockFindings + limitFindings }

    private var clockFindings: [DoctorFinding] {
        var book = FindingBook(.clock)
        let (now, setIt) = (facts.now, "set it and keep it synchronized: timedatectl set-ntp true, or chrony")
        if now < Self.earliest || now > Self.latest {
            book.fault(
                "the clock says \(now.rfc3339), which is wrong: certificates, tokens and expirations depend on it",
                hint: setIt)
        } else if let last = facts.lastWritten, last > now + Self.slack {
            book.fault(
                "the clock says \(now.rfc3339), and was set back: the daemon wrote at \(last.rfc3339)", hint: setIt)
        } else {
            book.ok("the clock says \(now.rfc3339)")
        }
        switch facts.clock {
        case .kept(let error): book.ok("the clock is synchronized, within \(error)")
        case .unknown: break
        case .unkept:
            book.warn(
                "the clock is not synchronized: gateways refuse the tokens of a clock that is an hour off",
                hint: "start an NTP client, such as chrony or systemd-timesyncd; in a container, start it on the host")
        }
        return book.findings
    }

    private var limitFindings: [DoctorFinding] {
        var book = FindingBook(.limits)
        noteFiles(in: &book)
        let watches = Self.watchesOfDaemon + Self.watchesOfApp * appCount
        if let most = facts.watches, most < watches {
            book.warn(
                "fs.inotify.max_user_watches is \(most), but \(appCount) \(appCount == 1 ? "app needs" : "apps need") \(watches): "
                    + "the other folders are polled",
                hint: "sysctl fs.inotify.max_user_watches=\(max(8192, watches * 2))")
        }
        if let most = facts.watchers, most < Self.watchersOfDaemon {
            book.warn(
                "fs.inotify.max_user_instances is \(most), but the daemon needs "
                    + "\(Self.watchersOfDaemon): everything is polled",
                hint: "sysctl fs.inotify.max_user_instances=128")
        }
        if book.findings.isEmpty { book.ok("\(facts.openFiles ?? 0) open files and enough watches are allowed") }
        return book.findings
    }

    private func noteFiles(in book: inout FindingBook) {
        guard let most = facts.openFiles else { return }
        let budget = DescriptorBudget(limit: most, hasMetricsListener: hasMetricsListener)
        guard let shortage = budget.shortage(forApps: appCount) else { return }
        book.fault("\(shortage)", hint: DescriptorShortage.hint)
    }
}

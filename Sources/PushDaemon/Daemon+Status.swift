import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore
import Synchronization

extension Daemon {
    /// How often the status is written at most, and how often threads at work are looked at.
    private static let statusPause = Duration.seconds(1)
    /// How often they are looked at while nothing is under way, if there are any that may hang without the daemon.
    private static let quietLook = Duration.seconds(5)

    /// Looks whether all threads come back, writes the status, and tells the service manager, until the task is cancelled.
    func runStatus() async {
        while !Task.isCancelled {
            lookAtThreads()
            lookAround()
            writeStatus()
            tellNews()
            try? await reactor.sleep(for: Self.statusPause)
            let longest = threads.isEmpty ? SpoolStatus.interval : Self.quietLook
            let pause = min(longest, certificateWait ?? longest)
            let next = ContinuousClock.now + (isQuiet && standstills.isEmpty ? pause : .zero)
            await statusBell.wait(until: hasOldMetrics ? min(next, nextMetrics) : next)
        }
    }

    /// Whether no job is under way, as far as apps have left word.
    var isQuiet: Bool { runners.values.allSatisfy { $0.shown.jobCount == 0 } }

    // MARK: Threads that do not come back

    /// The apps whose files can be worked on, as far as that is known: only they can be asked anything.
    var answeringRunners: [AppRunner] { runners.values.filter { !isStuck($0.name) } }

    /// Whether an app's filesystem hangs.
    func isStuck(_ app: String) -> Bool { standstill(of: app) != nil }

    private func standstill(of app: String) -> Moment? {
        homes[app].flatMap { standstills[$0] }?.begin
    }

    private func lookAtThreads() {
        for (device, thread) in threads {
            let pulse = thread.worker.pulse
            var standstill = standstills[device] ?? Standstill()
            let isNews = standstill.note(pulse, at: .now)
            standstills[device] = pulse.isAtWork ? standstill : nil
            if isNews { report(device, isStuck: standstill.begin != nil) }
        }
    }

    private func report(_ device: UInt64, isStuck: Bool) {
        for name in homes.filter({ $1 == device }).keys.sorted() {
            guard isStuck else {
                logger.notice("app's filesystem answers again", metadata: [LogKey.app: "\(name)"])
                continue
            }
            let hint: Logger.MetadataValue = "look after the server or disk that it is on; other apps go on"
            logger.error(
                "app is stuck: its filesystem does not answer", metadata: [LogKey.app: "\(name)", LogKey.hint: hint])
        }
    }

    /// Ends the program if apps hang that nothing can end: all that can be recorded is.
    func leaveIfStuck() {
        let stuck = attended.union(runners.keys).sorted()
        guard !stuck.isEmpty else { return }
        endJournal()
        removeStatus()
        let hint: Logger.MetadataValue = "their jobs stay in work/, and the next start goes on with them"
        logger.error(
            "stopped without apps that are stuck",
            metadata: [LogKey.app: "\(stuck.joined(separator: " "))", LogKey.hint: hint])
        Host.leave(with: 75)
    }

    // MARK: The file

    /// What the daemon says of itself now.
    var status: SpoolStatus {
        var status = SpoolStatus(
            node: node, processID: Int(Host.processID), startedAt: startedAt, writtenAt: .now)
        status.isStopping = isStopping
        status.apps = apps.sorted { $0.name < $1.name }
        return status
    }

    private func writeStatus() {
        let status = status
        do {
            try spool.publish(status)
            try writeMetrics(beside: status)
            isStatusBroken = false
        } catch {
            if !isStatusBroken { logger.warning("status cannot be written", metadata: [LogKey.error: "\(error)"]) }
            isStatusBroken = true
        }
    }

    var apps: [SpoolStatus.App] {
        var apps = runners.values.map { runner in runner.shown }
        let running = Set(runners.keys)
        apps += configuration.apps.keys.filter { !running.contains($0) }.map { .init(name: $0, state: .starting) }
        apps += configuration.brokenApps.subtracting(running).map { .init(name: $0, state: .broken) }
        apps += unconfigured.subtracting(running).map { .init(name: $0, state: .unconfigured) }
        return apps.map { app in
            var app = app
            if app.state == .starting { app.reason = startFaults[app.name] }
            if running.contains(app.name), configuration.brokenApps.contains(app.name) {
                let words = "goes on with what was in force: its configuration is at fault, see pushspool check"
                app.reason = app.reason.map { "\($0); \(words)" } ?? words
            }
            app.credentials = configuration.apps[app.name]?.identity.shown(at: .now)
            if app.state == .broken, let time = configuration.certificateTimes[app.name], time.start > .now {
                app.until = time.start
            }
            if let begin = standstill(of: app.name) { (app.state, app.since) = (.stuck, .now + (begin - .now)) }
            return app
        }
    }

    /// Takes the status away: nobody is to take it for that of a daemon that runs.
    func removeStatus() {
        do {
            try spool.removeStatus()
        } catch {
            logger.warning("status cannot be removed", metadata: [LogKey.error: "\(error)"])
        }
    }
}

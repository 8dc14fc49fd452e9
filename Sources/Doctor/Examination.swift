import Configuration
package import LinuxIO
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore

/// Checks everything that sending depends on, and reports faults with their remedies.
///
/// An examination does not disturb a running daemon: it takes no lock, sends nothing but handshakes, and creates only
/// files that can never be jobs, which it removes. At its deadline it abandons unfinished work. It then reports a file
/// operation as hanging, and a gateway that had too little time as not tried.
package actor Examination {
    /// The scope of an examination.
    package struct Settings: Sendable {
        /// The path of the daemon's file.
        package let path: String
        /// The apps to examine; empty: all.
        package let apps: [String]
        /// The time limit for the whole examination.
        package let timeout: Duration

        /// Creates settings.
        package init(path: String, apps: [String] = [], timeout: Duration = .seconds(30)) {
            self.path = path
            self.apps = apps
            self.timeout = timeout
        }
    }

    let reactor: Reactor
    private let settings: Settings
    private let wanted: Set<String>
    private let deadline: ContinuousClock.Instant

    /// The executor of the reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// How long to wait for the kernel to report a rename.
    private static let notificationLimit = Duration.seconds(2)

    /// Creates an examination. Its time begins now.
    ///
    /// - Throws: `SystemError`: no descriptor or thread is available.
    package init(_ settings: Settings) throws(SystemError) {
        self.settings = settings
        wanted = Set(settings.apps)
        reactor = try Reactor(name: "doctor")
        deadline = .now + settings.timeout
    }

    deinit {
        // No task can still be running on the reactor: it would hold a reference to this actor.
        if !reactor.isCurrent { reactor.stop() }
    }

    /// Runs all checks.
    ///
    /// - Returns: The findings.
    /// - Throws: `SystemError`: no thread can be started; `CancellationError`.
    package func report() async throws -> DoctorReport {
        let path = settings.path
        let set: ConfigurationSet
        do {
            let folder = CurrentFile(FilePlace(path).directory)
            set = try await patiently(at: folder) { ConfigurationLoader(path: path).load() }
        } catch let hang as Hang {
            return DoctorReport([finding(of: hang)])
        }
        var findings = ConfigurationJudgement(path: path, set: set, wanted: wanted, now: .now).findings
        var host = HostFacts.look()
        if !set.isDaemonBroken {
            // Run both concurrently, so that a hang in one does not use up the time of the other.
            let apps = set.apps.values.filter { wanted.isEmpty || wanted.contains($0.configuration.name) }
            async let gateways = examineGateways(apps)
            let spool = try await examineSpool(set)
            findings += await gateways
            findings += spool.findings
            host.lastWritten = spool.lastWritten
        }
        let isAsked = !set.isDaemonBroken && set.daemon.metricsListen != nil
        findings += HostJudgement(facts: host, appCount: set.apps.count, hasMetricsListener: isAsked).findings
        return DoctorReport(findings)
    }

    /// Returns a moment `duration` from now, but no later than the deadline, or after a part of the time until then.
    func soon(_ duration: Duration, part: Double = 1) -> ContinuousClock.Instant {
        let now = ContinuousClock.now
        return now + min(now.duration(to: deadline) * part, duration)
    }

    /// Whether the deadline has passed.
    var isOver: Bool { deadline <= .now }

    /// Work that did not finish before the deadline.
    private struct Hang: Error {
        let place: String
    }

    /// Runs blocking work that records its place.
    ///
    /// - Throws: `Hang`: the work did not finish before the deadline, so no time is left for other checks.
    private func patiently<Value: Sendable>(
        at currentFile: CurrentFile, _ work: @escaping @Sendable () -> Value
    ) async throws -> Value {
        guard let value = try await AbandonableWork.run(on: reactor, until: deadline, work) else {
            throw Hang(place: currentFile.place)
        }
        return value
    }

    private func finding(of hang: Hang) -> DoctorFinding {
        let limit = settings.timeout.components.seconds
        return DoctorFinding(
            severity: .fault, area: .filesystem, app: nil,
            message: "\(hang.place) did not respond within \(limit) s: its filesystem hangs",
            hint: "check its disk or file server, then run the doctor again: it has not examined the rest")
    }
}

// The spool.
extension Examination {
    /// The findings, and when the daemon last wrote its status.
    private struct SpoolFindings {
        var findings: [DoctorFinding] = []
        var lastWritten: WallTime?
    }

    /// How long after a start the status may be behind.
    private static let statusPause = Duration.seconds(2)

    /// Checks the spool until a filesystem hangs.
    private func examineSpool(_ set: ConfigurationSet) async throws -> SpoolFindings {
        var found = SpoolFindings()
        do {
            try await examineSpool(set, &found)
        } catch let hang as Hang {
            found.findings.append(finding(of: hang))
        }
        return found
    }

    private func examineSpool(_ set: ConfigurationSet, _ found: inout SpoolFindings) async throws {
        let (spool, node) = (set.daemon.spool, set.daemon.node ?? Host.name)
        let configured = wanted.isEmpty ? set.brokenApps.union(set.apps.keys) : wanted
        let place = SpoolFacts.Place(spool: spool, state: set.daemon.state, node: node, apps: configured)
        let currentFile = CurrentFile(spool)
        let control = set.daemon.control.folder
        var daemon = try await patiently(at: currentFile) { DaemonFacts.look(at: node, in: spool, control: control) }
        if daemon.isRunning == true, daemon.status?.apps.contains(where: { $0.state == .starting }) == true {
            // The daemon writes its status at most once a second: the app may have started since.
            try await reactor.sleep(for: Self.statusPause)
            daemon = try await patiently(at: currentFile) { DaemonFacts.look(at: node, in: spool, control: control) }
        }
        found.lastWritten = daemon.status?.writtenAt
        found.findings += DaemonJudgement(facts: daemon, path: settings.path, wanted: wanted).findings
        let facts = try await patiently(at: currentFile) { SpoolFacts.look(at: place, currentFile) }
        found.findings += SpoolJudgement(facts: facts, set: set, wanted: wanted, hasDaemon: daemon.isRunning).findings
        // The following checks try operations, and their results hold for the daemon only if this user has the daemon's
        // rights.
        guard facts.root.isFolder, facts.root.refusal == nil, facts.mayActForDaemon else { return }
        let apps = facts.apps.filter { configured.contains($0.app) && $0.home.isFolder }
        for volume in volumes(of: apps, facts.root) {
            found.findings += try await examineVolume(
                at: volume, SpaceFloor(byteCount: set.daemon.freeSpace), set.daemon.cluster != nil)
        }
        found.findings += try await examineNodes(of: set, at: node, currentFile)
        let names = apps.map(\.app)
        let ways = try await patiently(at: currentFile) {
            names.map { name in
                currentFile.note("\(spool)/\(name)")
                return MoveProbe.look(at: name, in: spool, node: node)
            }
        }
        found.findings += ways.flatMap { MoveJudgement(facts: $0).findings }
    }

    /// Looks at the other nodes on the spool.
    private func examineNodes(
        of set: ConfigurationSet, at node: String, _ currentFile: CurrentFile
    ) async throws -> [DoctorFinding] {
        let (spool, isClustered) = (set.daemon.spool, set.daemon.cluster != nil)
        let facts = try await patiently(at: currentFile) {
            ClusterFacts.look(at: node, in: spool, isClustered: isClustered)
        }
        guard isClustered else { return LeftJobsJudgement(facts: facts, isClustered: false).findings }
        return ClusterJudgement(facts: facts, apps: set.apps.values.map(\.listed), wanted: wanted).findings
    }

    /// One folder on each filesystem where jobs are dropped; the spool itself if there is no app yet.
    private func volumes(of apps: [AppFolderFacts], _ root: FolderFacts) -> [String] {
        var devices: Set<UInt64> = []
        var places: [String] = []
        for app in apps {
            let folder = [app.inner["tmp"], app.inner["new"], app.home].compactMap(\.self).first { $0.isFolder }
            guard let folder, devices.insert(folder.device).inserted else { continue }
            places.append(folder.path)
        }
        return places.isEmpty ? [root.path] : places
    }

    /// Tests the abilities of a filesystem.
    private func examineVolume(
        at place: String, _ floor: SpaceFloor, _ isClustered: Bool
    ) async throws -> [DoctorFinding] {
        var facts = try await patiently(at: CurrentFile(place)) { VolumeFacts.look(at: place) }
        if facts.refusal == nil { facts.notification = try await notification(in: place) ?? .untold }
        return VolumeJudgement(facts: facts, floor: floor, isClustered: isClustered).findings
    }

    /// Renames a file in a folder, and returns whether the kernel reported that; `nil` if it did not.
    private func notification(in place: String) async throws -> VolumeFacts.Notification? {
        let currentFile = CurrentFile(place)
        let opened = try await patiently(at: currentFile) { try? Directory.open(path: place) }
        guard let folder = opened else { return nil }
        let (before, behind) = (Array("\(VolumeFacts.prefix)-c".utf8), Array("\(VolumeFacts.prefix)-d".utf8))
        let watch: DirectoryWatch
        do throws(WatchFault) {
            watch = try DirectoryWatch()
        } catch {
            return .fault(error)
        }
        defer { watch.stop() }
        do throws(WatchFault) {
            try watch.add(folder, tag: 1, for: .files)
        } catch {
            return .fault(error)
        }
        let isMoved = try await patiently(at: currentFile) {
            (try? folder.create(before, mode: 0o600).closeNow()) != nil
                && (try? folder.rename(before, to: folder, replacing: behind)) != nil
        }
        let isTold = isMoved ? await reports(watch, of: behind) : false
        try await patiently(at: currentFile) { for name in [before, behind] { _ = try? folder.unlink(name) } }
        return isTold ? .told : nil
    }

    private func reports(_ watch: DirectoryWatch, of name: [UInt8]) async -> Bool {
        let (sleeper, limit) = (reactor, soon(Self.notificationLimit))
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                while let notices = await watch.next() {
                    for case .event(let event) in notices where event.name == name { return true }
                }
                return false
            }
            group.addTask {
                try? await sleeper.sleep(until: limit)
                return false
            }
            let isTold = await group.next() ?? false
            group.cancelAll()
            return isTold
        }
    }
}

import APNSGateway
import APNSModel
package import LinuxIO
import SpoolModel
import SpoolStore

/// Looks at all that sending depends on, and says what is wrong and what to do.
///
/// It disturbs no daemon that runs: it takes no lock, sends nothing but handshakes, and makes only files that are never
/// jobs, which it removes. Whatever it waits for is abandoned when its time is up: a file is said to hang, and a gateway
/// that had too little of it not to have been tried.
package actor Examination {
    /// What is to be looked at.
    package struct Settings: Sendable {
        /// The daemon's configuration file.
        package let path: String
        /// The apps; empty: all.
        package let apps: [String]
        /// How long all of it may take.
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

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// How long the kernel has to tell of a rename.
    private static let notificationLimit = Duration.seconds(2)

    /// Begins the time.
    ///
    /// - Throws: `SystemError`: no descriptor or thread is left.
    package init(_ settings: Settings) throws(SystemError) {
        self.settings = settings
        wanted = Set(settings.apps)
        reactor = try Reactor(name: "doctor")
        deadline = .now + settings.timeout
    }

    deinit {
        // Nothing of it runs there any more: whoever runs holds it.
        if !reactor.isCurrent { reactor.stop() }
    }

    /// Looks at everything.
    ///
    /// - Returns: What was found.
    /// - Throws: `SystemError`: no thread is left; `CancellationError`.
    package func report() async throws -> DoctorReport {
        let path = settings.path
        let set: ConfigurationSet
        do {
            let folder = Whereabouts(ConfigurationFile.folder(of: path))
            set = try await patiently(at: folder) { ConfigurationLoader(path: path).load() }
        } catch let hang as Hang {
            return DoctorReport([finding(of: hang)])
        }
        var findings = ConfigurationJudgement(path: path, set: set, wanted: wanted, now: .now).findings
        var host = HostFacts.look()
        if !set.isDaemonBroken {
            // Beside each other: what hangs in one does not take the other's time.
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

    /// A moment that is so far away, but not after all the time.
    func soon(_ duration: Duration) -> ContinuousClock.Instant { min(deadline, .now + duration) }

    /// Whether all the time is over.
    var isOver: Bool { deadline <= .now }

    /// Something that has not come back before all the time was over.
    private struct Hang: Error {
        let place: String
    }

    /// Does blocking work, which says where it is.
    ///
    /// - Throws: `Hang`: it has not come back. Nothing more can be done: the time is over.
    private func patiently<Value: Sendable>(
        at whereabouts: Whereabouts, _ work: @escaping @Sendable () -> Value
    ) async throws -> Value {
        guard let value = try await Errand.run(on: reactor, until: deadline, work) else {
            throw Hang(place: whereabouts.place)
        }
        return value
    }

    private func finding(of hang: Hang) -> DoctorFinding {
        let limit = settings.timeout.components.seconds
        return DoctorFinding(
            severity: .fault, area: .filesystem, app: nil,
            message: "\(hang.place) does not answer within \(limit) s: its filesystem hangs",
            hint: "look after the server or disk that it is on; what comes behind it was not looked at")
    }
}

// The spool.
extension Examination {
    /// What was found, and when the daemon has written last.
    private struct SpoolFindings {
        var findings: [DoctorFinding] = []
        var lastWritten: WallTime?
    }

    /// Looks at the spool, as far as it answers.
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
        let whereabouts = Whereabouts(spool)
        let control = set.daemon.controlFolder
        let daemon = try await patiently(at: whereabouts) { DaemonFacts.look(at: node, in: spool, control: control) }
        found.lastWritten = daemon.status?.writtenAt
        found.findings += DaemonJudgement(facts: daemon, path: settings.path, wanted: wanted).findings
        let facts = try await patiently(at: whereabouts) { SpoolFacts.look(at: place, whereabouts) }
        found.findings += SpoolJudgement(facts: facts, set: set, wanted: wanted).findings
        // What others may not do there says nothing of the daemon.
        guard facts.root.isFolder, facts.root.refusal == nil, facts.mayActForDaemon else { return }
        let apps = facts.apps.filter { configured.contains($0.app) && $0.home.isFolder }
        for volume in volumes(of: apps, facts.root) {
            found.findings += try await examineVolume(at: volume, SpaceFloor(byteCount: set.daemon.freeSpace))
        }
        let names = apps.map(\.app)
        let ways = try await patiently(at: whereabouts) {
            names.map { name in
                whereabouts.note("\(spool)/\(name)")
                return WayFacts.look(at: name, in: spool, node: node)
            }
        }
        found.findings += ways.flatMap { WayJudgement(facts: $0).findings }
    }

    /// A folder of each filesystem, where jobs are dropped; the spool itself if there is no app yet.
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

    /// Tries what a filesystem can do.
    private func examineVolume(at place: String, _ floor: SpaceFloor) async throws -> [DoctorFinding] {
        var facts = try await patiently(at: Whereabouts(place)) { VolumeFacts.look(at: place) }
        if facts.refusal == nil { facts.notification = try await notification(in: place) ?? .untold }
        return VolumeJudgement(facts: facts, floor: floor).findings
    }

    /// Finds out whether the kernel tells of a rename in a folder; `nil` if it did not.
    private func notification(in place: String) async throws -> VolumeFacts.Notification? {
        let whereabouts = Whereabouts(place)
        let opened = try await patiently(at: whereabouts) { try? Directory.open(path: place) }
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
        let isMoved = try await patiently(at: whereabouts) {
            (try? folder.create(before, mode: 0o600).closeNow()) != nil
                && (try? folder.rename(before, to: folder, replacing: behind)) != nil
        }
        let isTold = isMoved ? await tells(watch, of: behind) : false
        try await patiently(at: whereabouts) { for name in [before, behind] { _ = try? folder.unlink(name) } }
        return isTold ? .told : nil
    }

    private func tells(_ watch: DirectoryWatch, of name: [UInt8]) async -> Bool {
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

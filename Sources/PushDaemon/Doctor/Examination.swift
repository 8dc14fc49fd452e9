import APNSGateway
import APNSModel
package import LinuxIO
import SpoolModel
import SpoolStore

/// Looks at all that sending depends on, one thing after the other, and says what is wrong and what to do.
///
/// It disturbs no daemon that runs: it takes no lock, sends nothing but handshakes, and makes only files that are never
/// jobs, which it removes. Whatever it waits for is abandoned when its time is up, and said to hang.
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
        guard let set = try await patiently({ ConfigurationLoader(path: path).load() }) else {
            return DoctorReport([hanging(ConfigurationFile.folder(of: path))])
        }
        var findings = ConfigurationJudgement(path: path, set: set, wanted: wanted, now: .now).findings
        let apps = set.apps.values.filter { wanted.isEmpty || wanted.contains($0.configuration.name) }
        var host = HostFacts.look()
        if !set.isDaemonBroken {
            findings += await examineGateways(apps)
            findings += try await examineSpool(set, &host)
        }
        let connectionCount = set.apps.values.reduce(0) { $0 + $1.configuration.connections }
        findings +=
            HostJudgement(facts: host, appCount: set.apps.count, connectionCount: connectionCount).findings
        return DoctorReport(findings)
    }

    /// A moment that is so far away, but not after all the time.
    func soon(_ duration: Duration) -> ContinuousClock.Instant { min(deadline, .now + duration) }

    /// Does blocking work; `nil` when it hangs.
    private func patiently<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws -> Value? {
        try await Errand.run(on: reactor, until: deadline, work)
    }

    private func hanging(_ path: String) -> DoctorFinding {
        DoctorFinding(
            severity: .fault, area: .filesystem, app: nil,
            message: "\(path) does not answer within \(settings.timeout.components.seconds) s: its filesystem hangs",
            hint: "look after the server or disk that it is on; --timeout gives it longer")
    }
}

// The spool.
extension Examination {
    private func examineSpool(_ set: ConfigurationSet, _ host: inout HostFacts) async throws -> [DoctorFinding] {
        let (spool, node) = (set.daemon.spool, set.daemon.node ?? Host.name)
        let configured = wanted.isEmpty ? set.brokenApps.union(set.apps.keys) : wanted
        let place = SpoolFacts.Place(spool: spool, state: set.daemon.state, node: node, apps: configured)
        let control = set.daemon.controlFolder
        guard let facts = try await patiently({ SpoolFacts.look(at: place) }),
            let daemon = try await patiently({ DaemonFacts.look(at: node, in: spool, control: control) })
        else { return [hanging(spool)] }
        host.lastWritten = daemon.status?.writtenAt
        var findings = SpoolJudgement(facts: facts, set: set, wanted: wanted).findings
        findings += DaemonJudgement(facts: daemon, path: settings.path, wanted: wanted).findings
        guard facts.root.isFolder, facts.root.refusal == nil else { return findings }
        let apps = facts.apps.filter { configured.contains($0.app) && $0.home.isFolder }
        findings += try await examineVolumes(of: apps, SpaceFloor(byteCount: set.daemon.freeSpace), facts.root)
        let names = apps.map(\.app)
        guard let ways = try await patiently({ names.map { WayFacts.look(at: $0, in: spool, node: node) } }) else {
            return findings + [hanging(spool)]
        }
        return findings + ways.flatMap { WayJudgement(facts: $0).findings }
    }

    /// Tries each filesystem once, where jobs are dropped; the spool's own if there is no app yet.
    private func examineVolumes(
        of apps: [AppFolderFacts], _ floor: SpaceFloor, _ root: FolderFacts
    ) async throws -> [DoctorFinding] {
        var devices: Set<UInt64> = []
        var places: [String] = []
        for app in apps {
            let folder = [app.inner["tmp"], app.inner["new"], app.home].compactMap(\.self).first { $0.isFolder }
            guard let folder, devices.insert(folder.device).inserted else { continue }
            places.append(folder.path)
        }
        if places.isEmpty { places = [root.path] }
        var findings: [DoctorFinding] = []
        for place in places {
            guard var facts = try await patiently({ VolumeFacts.look(at: place) }) else {
                findings.append(hanging(place))
                continue
            }
            if facts.refusal == nil { facts.notification = try await notification(in: place) ?? .untold }
            findings += VolumeJudgement(facts: facts, floor: floor).findings
        }
        return findings
    }

    /// Finds out whether the kernel tells of a rename in a folder; `nil` if it did not, or the folder hangs.
    private func notification(in place: String) async throws -> VolumeFacts.Notification? {
        guard let opened = try await patiently({ try? Directory.open(path: place) }), let folder = opened else {
            return nil
        }
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
        let isMoved = try await patiently {
            (try? folder.create(before, mode: 0o600).closeNow()) != nil
                && (try? folder.rename(before, to: folder, replacing: behind)) != nil
        }
        let isTold = isMoved == true ? await tells(watch, of: behind) : false
        _ = try await patiently { for name in [before, behind] { _ = try? folder.unlink(name) } }
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

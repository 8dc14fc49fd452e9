import Configuration
package import Doctor
import Document
import DoorModel
package import LinuxIO
import Logging
import PushModel
import SpoolClient
import SpoolModel
import SpoolStore

/// Checks everything that the doors depend on, and reports faults with their remedies.
///
/// It disturbs nothing: it creates only files that can never be jobs, and removes them. Run it as the doors' user.
package actor DoorExamination {
    private let reactor: Reactor
    private let loader: DoorLoader
    private let path: String

    /// The executor of the reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// How long a door may take to accept a connection, and to answer.
    private static let patience = Duration.seconds(5)
    /// How long before its end a certificate is reported.
    private static let notice = Int64(30 * 86_400)

    /// Creates an examination of the doors that a file configures.
    ///
    /// - Throws: `SystemError`: no descriptor or thread is available.
    package init(path: String) throws(SystemError) {
        reactor = try Reactor(name: "doctor")
        (self.path, loader) = (path, DoorLoader(path: path))
    }

    /// Runs all checks. Blocks for the files.
    package func report() async -> DoctorReport {
        let set = loader.load()
        let (configuration, usesFeedback) = (set.configuration, set.configuration.usesFeedback)
        var findings = self.findings(about: set)
        // What was not read is not examined.
        guard !set.findings.contains(where: { $0.file == path && set.hasErrors }) else { return DoctorReport(findings) }
        var names = FindingBook(.names)
        if let (access, router) = router(configuration, &names) {
            for app in reachable(router, configuration, &names) {
                findings += self.findings(about: app, in: configuration.spool, access, usesFeedback: usesFeedback)
            }
        }
        var permissions = FindingBook(.permissions)
        check(configuration.state, &permissions)
        findings += names.findings + permissions.findings + volume(configuration)
        var process = FindingBook(.daemon)
        for (name, place) in configuration.places { await look(for: name, at: place, &process) }
        return DoctorReport(findings + process.findings)
    }

    // MARK: Configuration

    private func findings(about set: DoorSet) -> [DoctorFinding] {
        var book = FindingBook(.configuration)
        for finding in set.findings {
            for diagnostic in finding.diagnostics {
                let place = diagnostic.place.map { ":\($0.line):\($0.column)" } ?? ""
                let message = "\(finding.file)\(place): \(diagnostic.sentence)"
                let hint = diagnostic.hint ?? "see doors.yaml(5)"
                if diagnostic.severity == .error {
                    book.fault(message, hint: hint)
                } else {
                    book.warn(message, hint: hint)
                }
            }
        }
        if let end = set.relayNotAfter, end - WallClock.nanoseconds() / 1_000_000_000 < Self.notice {
            let day = WallTime(epochSeconds: end).rfc3339.prefix(10)
            book.warn("the relay's certificate expires on \(day)", hint: "replace it, and send HUP to the doors")
        }
        if book.findings.isEmpty { book.ok("\(path) is good") }
        return book.findings
    }

    // MARK: Apps

    private func router(
        _ configuration: DoorConfiguration, _ book: inout FindingBook
    ) -> (access: SpoolAccess, router: AppRouter)? {
        do throws(SystemError) {
            let access = try SpoolAccess(configuration, Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
            guard let router = access.router() else {
                book.fault(
                    "the daemon's list of apps cannot be read in \(configuration.spool)/.pushspool/public",
                    hint: "start the daemon once; the list stays when it stops")
                return nil
            }
            return (access, router)
        } catch {
            book.fault("the spool cannot be opened: \(error)", hint: "check `spool`, and that this user may enter it")
            return nil
        }
    }

    /// Returns the apps that some producer may use.
    private func reachable(
        _ router: AppRouter, _ configuration: DoorConfiguration, _ book: inout FindingBook
    ) -> [String] {
        let known = Set(router.apps.map(\.name))
        var wanted = Set(configuration.zeromq.map { [$0.app] } ?? [])
        for (producer, _) in configuration.producers { wanted.formUnion(producer.apps ?? known) }
        if configuration.xmlrpc != nil { wanted.formUnion(known) }
        for app in wanted.subtracting(known).sorted() {
            book.warn("no app is called \(app)", hint: "write apps/\(app).yaml, or remove it from doors.yaml")
        }
        if let name = configuration.zeromq?.app, router.apps.contains(where: { $0.name == name && $0.carrier == .fcm })
        {
            book.fault(
                "zeromq.app: \(name) is an FCM app, and clients of py-apnsd push to Apple's devices only",
                hint: "name an app of Apple's in doors.yaml")
        }
        let apps = wanted.intersection(known).sorted()
        if !apps.isEmpty {
            book.ok("\(apps.count) of the daemon's \(known.count) app\(known.count == 1 ? "" : "s") can be reached")
        }
        return apps
    }

    private func findings(
        about app: String, in spool: String, _ access: SpoolAccess, usesFeedback: Bool
    ) -> [DoctorFinding] {
        var book = FindingBook(.permissions, of: app)
        do {
            try access.rehearse(app)
            book.ok("a test file moved from tmp/ to new/, as a job does")
        } catch {
            let trouble = error as? SpoolClientError
            book.fault(
                "no job can be dropped: \(trouble?.message ?? "\(error)")",
                hint: trouble?.hint ?? "until then, the doors refuse its jobs")
        }
        if usesFeedback {
            do throws(SystemError) {
                _ = try Directory.open(path: "\(spool)/\(app)/feedback").names()
            } catch {
                book.warn(
                    "feedback cannot be read: \(error)",
                    hint: "make the doors' user a member of the group of \(spool)/\(app)/feedback")
            }
        }
        return book.findings
    }

    // MARK: Folders

    private func check(_ state: String, _ book: inout FindingBook) {
        let purpose = "the ids and marks of the doors"
        do throws(SystemError) {
            let directory = try Directory.open(path: state)
            let name = Array(".doctor-\(Host.processID)".utf8)
            _ = try directory.create(name, mode: 0o600)
            _ = try directory.unlink(name)
            book.ok("\(state) can be written, for \(purpose)")
        } catch {
            book.fault(
                "\(state) cannot be written: \(error)",
                hint: "let the doors' user create files there; they are for \(purpose)")
        }
    }

    private func volume(_ configuration: DoorConfiguration) -> [DoctorFinding] {
        var book = FindingBook(.filesystem)
        guard let space = try? Directory.open(path: configuration.spool).filesystemSpace() else { return [] }
        let least = SpaceFloor(byteCount: configuration.freeSpace).byteCount(of: space)
        let words = "\(configuration.spool) has \(space.freeByteCount >> 20) MiB free"
        if space.freeByteCount < least {
            let hint = "free some space, or lower limits.free_space"
            book.fault("\(words); below \(least >> 20) MiB nothing is taken", hint: hint)
        } else {
            book.ok(words)
        }
        return book.findings
    }

    // MARK: Process

    private func look(for name: String, at place: ListenPlace, _ book: inout FindingBook) async {
        let deadline = ContinuousClock.now + Self.patience
        let socket: StreamSocket
        do {
            socket =
                switch place {
                case .address(let address):
                    try await StreamSocket.connect(to: address.reachable, on: reactor, until: deadline)
                case .local(let path): try LocalListener.connect(to: path, on: reactor)
                }
        } catch {
            let hint = "start pushspool-door; its log says more"
            return book.warn("\(name) does not listen at \(place): \(error)", hint: hint)
        }
        do {
            try await DoorProbe(of: name).ask(over: socket, until: deadline)
            book.ok("\(name) answers at \(place)")
        } catch {
            let hint =
                "raise limits.connections if pushspool_door_connections is that high; else restart pushspool-door"
            book.fault("\(name) listens at \(place), but does not answer: \(error)", hint: hint)
        }
    }
}

extension SocketAddress {
    /// This address or, if it stands for all of the host's, its loopback address.
    fileprivate var reachable: SocketAddress {
        switch host {
        case "0.0.0.0": .loopback(port: port)
        case "::": SocketAddress("[::1]:\(port)") ?? self
        default: self
        }
    }
}

extension DoorConfiguration {
    /// Whether some door reads feedback.
    fileprivate var usesFeedback: Bool {
        http != nil || xmlrpc != nil || zeromq != nil || relay.map { $0.gone > .zero || $0.answer == .gateway } ?? false
    }

    /// The doors, and where they listen.
    fileprivate var places: [(name: String, place: ListenPlace)] {
        let endpoint = zeromq?.endpoint ?? ""
        let socket =
            endpoint.hasPrefix("ipc://")
            ? ListenPlace.local(path: String(endpoint.dropFirst(6)))
            : SocketAddress(String(endpoint.dropFirst(6))).map { ListenPlace.address($0) }
        return [
            ("apns", relay.map { .address($0.address) }), ("http", http), ("xmlrpc", xmlrpc?.place), ("zeromq", socket),
        ].compactMap { name, place in place.map { (name, $0) } }
    }
}

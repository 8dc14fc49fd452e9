import AppEngine
import Configuration
import JobOperations
import LinuxIO
import Logging
import ServiceProcess
import SharedResources
import SpoolModel

/// Executes operators' commands: finds the app that has the job, and passes the command to it.
final class CommandRouter {
    private let resources: DaemonResources
    private let logger: Logger
    private let configuration: ConfigurationKeeper
    private let apps: AppSupervisor
    private let cluster: Cluster
    /// The stop that an operator requested, with its limit; `nil` without a request.
    private(set) var requestedStop: RequestedStop?
    /// Why there is no socket, as it was logged last.
    private var socketFault: String?
    /// Keeps the connections that end with the process.
    private var server: ControlServer?

    init(
        _ resources: DaemonResources, _ configuration: ConfigurationKeeper, _ apps: AppSupervisor, _ cluster: Cluster
    ) {
        (self.resources, self.configuration, self.apps) = (resources, configuration, apps)
        self.cluster = cluster
        logger = resources.logger
    }

    // MARK: The socket

    /// How often it is checked that the socket still has its name, or tried to open one.
    private static let socketPause = Duration.seconds(10)

    /// Listens for commands until the task is cancelled; again if the socket was removed. Without a socket the daemon works,
    /// but takes no commands.
    ///
    /// - Parameter daemon: Executes the commands.
    func run(for daemon: Daemon) async {
        while !Task.isCancelled {
            let folder = configuration.current.daemon.control.folder
            do {
                let socket = try openSocket(in: try Directory.open(path: folder))
                socketFault = nil
                let server = ControlServer(daemon, on: resources.reactor, logger)
                self.server = server
                try await serve(server, socket)
                logger.warning("control socket was removed; listening again", metadata: [LogKey.path: "\(socket.path)"])
                continue
            } catch is CancellationError {
                return
            } catch let fault as ControlFault {
                warn(fault.message, hint: fault.hint ?? "")
            } catch {
                let hint = "create \(folder) for the daemon's user (systemd: RuntimeDirectory=), or set control.folder"
                warn("\(error)", hint: hint)
            }
            try? await resources.reactor.sleep(for: Self.socketPause)
        }
    }

    /// Serves as long as the socket has its name.
    private func serve(_ server: ControlServer, _ socket: LocalSocket) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run(socket) }
            while try socket.hasName() {
                // A task that fails ends the group when it is awaited, so the server is awaited with each check.
                group.addTask { [reactor = resources.reactor] in try await reactor.sleep(for: Self.socketPause) }
                try await group.next()
            }
            group.cancelAll()
        }
    }

    /// Logs each cause once in a row.
    private func warn(_ message: String, hint: String) {
        guard socketFault != message else { return }
        socketFault = message
        logger.warning(
            "control socket disabled", metadata: [LogKey.error: "\(message)", LogKey.hint: "\(hint)"])
    }

    /// Listens under the node's name. An unanswered socket is left over: this daemon has the journal's lock.
    private func openSocket(in folder: Directory) throws -> LocalSocket {
        let (node, group) = (resources.node, configuration.current.daemon.control.group)
        let name = Array(DaemonConfiguration.controlName(of: node).utf8)
        var access = LocalSocket.Access()
        if let group {
            guard let number = try Host.groupID(of: group) else {
                throw ControlFault("group \(group) does not exist", hint: "correct control.group, or create the group")
            }
            access.group = number
        }
        guard try !LocalSocket.isAnswered(name, in: folder) else {
            throw ControlFault(
                "another daemon listens as node \(node) in \(folder.path)",
                hint: "stop that daemon, or give the daemon of each spool a control.folder of its own")
        }
        try LocalSocket.removeLeftover(name, in: folder)
        guard try folder.status(of: name) == nil else {
            throw ControlFault("\(folder.path)/\(node).sock exists but is not a socket", hint: "move it away")
        }
        do throws(SystemError) {
            return try LocalSocket(name, in: folder, for: access)
        } catch {
            guard error.operation == "fchownat", error.isRefusal else { throw error }
            let remedy =
                "add the daemon's user to the group \(group ?? "") (systemd: SupplementaryGroups=\(group ?? ""))"
            throw ControlFault("\(error)", hint: remedy)
        }
    }

    // MARK: Commands

    /// Executes a command, and logs the user who gave it.
    func answer(_ request: ControlRequest, for peer: PeerProcess) async -> ControlAnswer {
        let answer: ControlAnswer
        switch request.command {
        case .stop: answer = stop(request)
        case .reload: answer = await reload()
        case .pause, .resume: answer = await pauseOrResume(request)
        case .hold, .release, .cancel, .expire, .retry: answer = await outcome(of: request)
        }
        note(request, answer, [LogKey.user: "\(peer.userID)", LogKey.process: "\(peer.processID)"])
        return answer
    }

    private func note(_ request: ControlRequest, _ answer: ControlAnswer, _ source: Logger.Metadata) {
        var metadata = source
        metadata[LogKey.command] = "\(request.command.rawValue)"
        metadata[LogKey.result] = "\(answer.kind.rawValue)"
        if let app = answer.app { metadata[LogKey.app] = "\(app)" }
        if let job = answer.job { metadata[LogKey.job] = "\(job)" }
        if let id = answer.id { metadata[LogKey.id] = "\(id)" }
        if !answer.isGood { metadata[LogKey.error] = "\(answer.text)" }
        // A command for all jobs, such as `retry --all`, may find nothing to do for thousands of them.
        let changesNothing = answer.hasNothingToDo || answer.kind == .planned
        logger.log(level: changesNothing ? .debug : .notice, "operator command", metadata: metadata)
    }

    /// How long an app may take to use a new configuration. One whose filesystem hangs does not.
    private static let reloadLimit = Duration.seconds(5)

    /// Waits until the running apps use the configuration that the daemon has just read.
    private func reload() async -> ControlAnswer {
        guard configuration.isCurrent else {
            return ControlAnswer(.refused, "the configuration is invalid", hint: "run pushspool check")
        }
        let deadline = ContinuousClock.now + Self.reloadLimit
        while .now < deadline, !apps.areInLine { try? await resources.reactor.sleep(for: .milliseconds(5)) }
        return ControlAnswer(.done, "the configuration is loaded")
    }

    /// Pauses or resumes one app, or all running apps.
    private func pauseOrResume(_ request: ControlRequest) async -> ControlAnswer {
        let isPause = request.command == .pause
        if let app = request.app {
            guard let runner = apps.runner(app), !apps.isStuck(app) else { return absence(of: app) }
            return isPause ? await runner.beginPause() : await runner.resume()
        }
        var answers = apps.runners.keys.filter(apps.isStuck).map(absence)
        for runner in apps.answeringRunners {
            answers.append(isPause ? await runner.beginPause() : await runner.resume())
        }
        return ControlAnswer(ofAll: answers, isPause ? "paused" : "resumed")
    }

    private func absence(of app: String) -> ControlAnswer {
        guard !apps.isStuck(app) else {
            return ControlAnswer(
                .refused, "the app's filesystem does not respond", hint: "check its disk or file server"
            ).about(app)
        }
        let remedy =
            "if its configuration file is missing, put it back and try again; without it you can only move jobs in new/"
            + " and hold/ by hand"
        return ControlAnswer(.refused, "no such app is running", hint: remedy).about(app)
    }

    /// Executes a command about a job, in the node of the cluster that has it.
    private func outcome(of request: ControlRequest) async -> ControlAnswer {
        let answer = await ownOutcome(of: request)
        guard answer.kind == .notFound, let reference = request.reference else { return answer }
        return await cluster.carryOut(request, reference) ?? answer
    }

    /// Executes a command that another node passes on because it does not have the job.
    func answer(passedOn line: [UInt8]) async -> ControlAnswer {
        do throws(ControlFault) {
            let request = try ControlServer.request(in: line)
            let answer = await ownOutcome(of: request)
            if answer.kind != .notFound { note(request, answer, [:]) }
            return answer
        } catch {
            return ControlAnswer(error)
        }
    }

    private func ownOutcome(of request: ControlRequest) async -> ControlAnswer {
        guard let reference = request.reference else { return .nameless(request.job ?? "") }
        let others = await cluster.runners
        guard let app = reference.app else {
            return await request.carryOut(in: apps.answeringRunners + others, reference)
        }
        guard let runner = apps.runner(app), !apps.isStuck(app) else {
            var answer = absence(of: app)
            answer.job = request.jobText(in: app)
            return answer
        }
        return await request.carryOut(in: [runner] + others.filter { $0.name == app }, reference)
    }

    // MARK: The end

    private func stop(_ request: ControlRequest) -> ControlAnswer {
        if request.handsOver, resources.cluster == nil {
            return ControlAnswer(
                .refused, "the daemon works alone: no other node can take its jobs", hint: "use pushspool stop --drain")
        }
        if !apps.isStopping, request.drains || request.timeout != nil || request.handsOver {
            requestedStop = RequestedStop(
                limit: request.timeout.map { .seconds($0) } ?? (request.handsOver ? RequestedStop.handoverLimit : nil),
                handsOver: request.handsOver)
        }
        // Like a second signal, a second command does not wait for jobs, unless it asks to.
        if !apps.isStopping || !request.drains { Host.signal(.terminate) }
        return stopProgress
    }

    /// The progress of a stop.
    var stopProgress: ControlAnswer {
        let count = apps.runners.values.reduce(0) { $0 + $1.shown.jobCount }
        return ControlAnswer(.begun, count == 0 ? "stopping" : "stopping, jobs under way: \(count)")
    }
}

/// A stop requested by an operator.
struct RequestedStop {
    /// How long a stop waits at most for notifications on connections if it leaves the jobs to other nodes.
    static let handoverLimit = Duration.seconds(60)

    /// How long the stop may wait for jobs under way; `nil`: without limit.
    let limit: Duration?
    /// Whether it waits only until each notification on a connection has its outcome.
    let handsOver: Bool
}

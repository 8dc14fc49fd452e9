import LinuxIO
import Logging
import SpoolModel
import SpoolStore
import Synchronization

/// A stop that an operator has asked for.
struct RequestedStop {
    /// How long it may wait for jobs under way; `nil`: as long as that takes.
    let limit: Duration?
}

// What operators ask for.
extension Daemon {
    /// Listens for commands until the task is cancelled. A daemon whose socket cannot be made works without.
    func runControl() async {
        do {
            let folder = try Directory.open(path: configuration.daemon.controlFolder)
            let socket = try openControl(in: folder)
            let server = ControlServer(self, on: reactor, logger)
            control = server
            try await server.run(socket)
        } catch is CancellationError {
            return
        } catch let fault as ControlFault {
            warnWithoutControl(fault.message, hint: fault.hint ?? "")
        } catch {
            let folder = configuration.daemon.controlFolder
            let hint = "make \(folder) for the daemon's user (systemd: RuntimeDirectory=), or set control.folder"
            warnWithoutControl("\(error)", hint: hint)
        }
        while !Task.isCancelled { try? await reactor.sleep(for: .seconds(3600)) }
    }

    private func warnWithoutControl(_ message: String, hint: String) {
        logger.warning(
            "operators' commands are not heard", metadata: [LogKey.error: "\(message)", LogKey.hint: "\(hint)"])
    }

    /// Listens under the node's name. What stands there and nobody answers is of a daemon that has ended: the lock on the
    /// journal is ours.
    private func openControl(in folder: Directory) throws -> LocalSocket {
        let name = Array(DaemonConfiguration.controlName(of: node).utf8)
        var access = LocalSocket.Access()
        if let group = configuration.daemon.controlGroup {
            guard let number = try Host.groupID(of: group) else {
                throw ControlFault("there is no group \(group)", hint: "correct control.group, or make the group")
            }
            access.group = number
        }
        guard try !LocalSocket.isAnswered(name, in: folder) else {
            throw ControlFault(
                "another daemon listens as node \(node) in \(folder.path)",
                hint: "give the daemons of two spools different `node:` names, or different folders in control.folder")
        }
        try LocalSocket.removeLeftover(name, in: folder)
        guard try folder.status(of: name) == nil else {
            throw ControlFault("\(folder.path)/\(node).sock is there, and is no socket", hint: "move it away")
        }
        do throws(SystemError) {
            return try LocalSocket(name, in: folder, for: access)
        } catch {
            guard error.operation == "fchownat", error.isRefusal else { throw error }
            let group = configuration.daemon.controlGroup ?? ""
            let remedy = "put the daemon's user into the group \(group) (systemd: SupplementaryGroups=\(group))"
            throw ControlFault("\(error)", hint: remedy)
        }
    }

    /// Carries out a command, and logs who gave it.
    func carryOut(_ request: ControlRequest, for peer: PeerProcess) async -> ControlAnswer {
        let answer: ControlAnswer
        switch request.command {
        case .stop: answer = stop(request)
        case .pause, .resume: answer = await pauseOrResume(request)
        case .hold, .release, .cancel, .expire, .retry: answer = await outcome(of: request)
        }
        var metadata: Logger.Metadata = [
            LogKey.command: "\(request.command.rawValue)", LogKey.user: "\(peer.userID)",
            LogKey.process: "\(peer.processID)", LogKey.result: "\(answer.kind.rawValue)",
        ]
        if let app = answer.app { metadata[LogKey.app] = "\(app)" }
        if let job = answer.job { metadata[LogKey.job] = "\(job)" }
        if let id = answer.id { metadata[LogKey.id] = "\(id)" }
        if !answer.isGood { metadata[LogKey.error] = "\(answer.text)" }
        logger.notice("operator's command", metadata: metadata)
        return answer
    }

    /// Pauses or resumes an app, or all that run.
    private func pauseOrResume(_ request: ControlRequest) async -> ControlAnswer {
        let isPause = request.command == .pause
        if let app = request.app {
            guard let runner = runners[app], !isStuck(app) else { return absence(of: app) }
            return isPause ? await runner.beginPause() : await runner.resume()
        }
        var answers = runners.keys.filter(isStuck).map(absence)
        for runner in answeringRunners.sorted(by: { $0.name < $1.name }) {
            answers.append(isPause ? await runner.beginPause() : await runner.resume())
        }
        return ControlAnswer(ofAll: answers, isPause ? "paused" : "go on")
    }

    private func absence(of app: String) -> ControlAnswer {
        guard !isStuck(app) else {
            return ControlAnswer(
                .refused, "the app's filesystem does not answer", hint: "look after the server or disk that it is on"
            ).about(app)
        }
        let remedy =
            "of one that is not configured, jobs in new/ and hold/ can be moved by hand; those in work/ wait for its file: put"
            + " it back, and ask again"
        return ControlAnswer(.refused, "there is no such app at work", hint: remedy).about(app)
    }

    private func outcome(of request: ControlRequest) async -> ControlAnswer {
        guard let reference = request.reference else { return .nameless(request.job ?? "") }
        guard let app = reference.app else { return await outcome(of: request, inAnyApp: reference) }
        guard let runner = runners[app], !isStuck(app) else {
            var answer = absence(of: app)
            answer.job = request.jobText(in: app)
            return answer
        }
        return await runner.carryOut(request, reference) ?? .notFound(app, request.jobText(in: app))
    }

    private func outcome(of request: ControlRequest, inAnyApp reference: JobReference) async -> ControlAnswer {
        var asked = answeringRunners.sorted { $0.name < $1.name }
        do {
            var candidates: [(runner: AppRunner, names: [String])] = []
            for runner in asked { candidates.append((runner, try await runner.candidates(request, reference))) }
            try ControlFault.requireOne(candidates.flatMap(\.names))
            // Another may have one that is over, which is not meant then.
            if let meant = candidates.first(where: { !$0.names.isEmpty }) { asked = [meant.runner] }
        } catch {
            let fault = (error as? ControlFault) ?? ControlFault("\(error)", hint: "see permissions and disk")
            var answer = ControlAnswer(fault)
            answer.job = request.job
            return answer
        }
        for runner in asked {
            if let answer = await runner.carryOut(request, reference) { return answer }
        }
        return .notFound(nil, request.job)
    }

    // MARK: The end

    private func stop(_ request: ControlRequest) -> ControlAnswer {
        if !isStopping, request.drains || request.timeout != nil {
            requestedStop = RequestedStop(limit: request.timeout.map { .seconds($0) })
        }
        // As a second signal, a second command does not wait, unless it asks for that.
        if !isStopping || !request.drains { Host.signal(.terminate) }
        return stopProgress
    }

    /// How far a stop is.
    var stopProgress: ControlAnswer {
        let count = runners.values.reduce(0) { $0 + $1.shown.jobCount }
        return ControlAnswer(.begun, count == 0 ? "stopping" : "stopping, jobs under way: \(count)")
    }
}

extension DaemonConfiguration {
    /// How the control socket of a node is called.
    package static func controlName(of node: String) -> String { node + ".sock" }
}

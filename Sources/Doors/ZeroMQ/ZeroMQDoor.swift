import Configuration
import Document
import DoorModel
import JSON
import JobFormat
import JobOperations
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import ZeroMQ

/// The door for clients of py-apnsd: commands over a ZeroMQ socket.
///
/// It serves one request after the other. It runs on one reactor; files are others'.
actor ZeroMQDoor: Door {
    nonisolated var name: String { "zeromq" }
    private nonisolated let reactor: Reactor
    private let rules: DoorConfiguration.ZeroMQ
    private let tools: Tools
    private let bodyLimit: Int
    private var socket: ReplySocket?
    private var ids: CommandIDs?
    private var isStopping = false
    private var isServing = false
    private let idle: Wakeup
    private var counts = DoorCounts()
    /// The clients whose last reply did not fit beside those that they have not read.
    private var deaf: Set<[UInt8]> = []
    private var troubles: (ids: Troubles, feedback: Troubles, replies: Troubles)

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// What it works with.
    struct Tools: Sendable {
        let intake: JobIntake
        let feedback: DoorRecords
        let logger: Logger
    }

    /// The file with the number of the next notification.
    private static let idFile = "zeromq-ids"
    /// How many requests of one client are read in advance: each may be as long as `limits.request`.
    private static let waitingLimit = 4
    /// How long a reply waits for a client to read others, and how many clients are known for not doing so.
    private static let (patience, deafLimit) = (Duration.milliseconds(200), 1_000)

    /// Creates a door that listens nowhere yet.
    init(_ rules: DoorConfiguration.ZeroMQ, bodyLimit: Int, with tools: Tools, on reactor: Reactor) {
        (self.rules, self.bodyLimit, self.tools, self.reactor) = (rules, bodyLimit, tools, reactor)
        idle = Wakeup(on: reactor)
        let logger = tools.logger
        let hint = "make `state` a folder that this user may write"
        troubles = (
            Troubles(("no ids", "ids are given out again"), about: LogKey.path, hint: hint, logger),
            Troubles(("feedback cannot be read", "feedback can be read again"), logger),
            Troubles(("reply or its mark failed", "replies and their marks succeed again"), logger)
        )
    }

    func configure(_: DoorSet) {}

    // MARK: Running

    func listen() throws {
        var options = ReplySocket.Options()
        (options.requestByteLimit, options.waitingLimit) = (bodyLimit, Self.waitingLimit)
        let socket = try ReplySocket(on: rules.endpoint, options: options, reactor: reactor)
        self.socket = socket
        tools.logger.notice("zeromq listens", metadata: [LogKey.path: "\(socket.endpoint)"])
    }

    func run() async {
        while !Task.isCancelled {
            guard let socket else { return await Wakeup.waitForCancellation(on: reactor) }
            do {
                guard let request = try socket.receive() else {
                    if !isStopping {
                        _ = await socket.wait()
                    } else {
                        return await Wakeup.waitForCancellation(on: reactor)
                    }
                    continue
                }
                isServing = true
                await serve(request, over: socket)
                isServing = false
                if isStopping { idle.signal() }
                await socket.waiter.yield()
            } catch {
                tools.logger.warning("cannot receive for now", metadata: [LogKey.error: "\(error)"])
                try? await reactor.sleep(for: .milliseconds(100))
            }
        }
    }

    private func serve(_ request: ReplyRequest, over socket: ReplySocket) async {
        counts.requestCount += 1
        var report: DoorRecords.Report?
        let reply: CommandReply
        do throws(CommandFault) {
            guard let bytes = request.bytes else { throw .multipart }
            switch try PushCommand(bytes, at: .now) {
            case .send(let command): reply = .sent(ids: try await send(command))
            case .feedback:
                let found = try await feedback()
                report = found
                reply = .feedback(found.tokens, format: rules.tokens)
            }
        } catch {
            counts.refusals[error.kind, default: 0] += 1
            reply = .refused(error)
        }
        do {
            let isSent = try await send(reply.bytes, to: request.returnPath, over: socket)
            if isSent, let report { try await tools.feedback.confirm(report) }
            troubles.replies.note(nil)
        } catch {
            troubles.replies.note(error)
        }
    }

    /// Sends a reply, unless too many wait for its client. One that reads gets some time; the others wait for it, but only once.
    ///
    /// - Returns: Whether it is on its way.
    private func send(
        _ reply: [UInt8], to path: ReplyRequest.ReturnPath, over socket: ReplySocket
    ) async throws(ReplySocketError) -> Bool {
        let deadline = ContinuousClock.now + (deaf.contains(path.client) ? .zero : Self.patience)
        while true {
            let delivery = try socket.send(reply, to: path)
            if delivery != .full { deaf.remove(path.client) }
            guard delivery == .full else { return delivery == .sent }
            guard .now < deadline, !Task.isCancelled else { break }
            _ = await socket.wait(until: deadline)
        }
        counts.refusals["unread", default: 0] += 1
        if deaf.count >= Self.deafLimit { deaf = [] }
        if deaf.insert(path.client).inserted {
            tools.logger.warning("a client does not read its replies; they are dropped")
        }
        return false
    }

    // MARK: Commands

    private func send(_ command: SendCommand) async throws(CommandFault) -> Range<UInt64> {
        let target = try await target()
        var job: [UInt8] = []
        command.appendJob(to: &job)
        var parser = JSON.Parser(limits: target.limits)
        let context = JobContext(checkingFor: target.app, target.limits)
        if let fault = command.fault(of: job, parser: &parser, in: context) { throw fault }
        // Before the job: once it is dropped, its ids must not come again.
        var ids = try await reservedIDs(command.count)
        switch await tools.intake.drop(job, as: "zeromq.json", for: target, isAllOrNothing: true) {
        case .dropped(let receipt):
            counts.dropTimes.add(nanoseconds: receipt.time.wholeNanoseconds)
            counts.acceptedCount += 1
            defer { self.ids = ids }
            return ids.allocate(command.count)
        case .refused(let diagnostics): throw .other(diagnostics.first?.sentence ?? "the job would fail")
        case .unavailable: throw .other("No job can be accepted now; the log says why")
        }
    }

    private func target() async throws(CommandFault) -> JobIntake.Target {
        let target: JobIntake.Target?
        do {
            target = try await tools.intake.target(rules.app)
        } catch {
            throw .other("\(error)")
        }
        guard let target else { throw .other("there is no app \(rules.app)") }
        if let refusal = target.refusalToAppleClients { throw .other(refusal) }
        return target
    }

    /// Returns the ids, of which at least so many may be given out.
    private func reservedIDs(_ count: Int) async throws(CommandFault) -> CommandIDs {
        do {
            var ids: CommandIDs
            if let known = self.ids {
                ids = known
            } else {
                ids = try CommandIDs(continuing: try await tools.feedback.content(of: Self.idFile))
            }
            if let reservation = ids.reservation(for: count) {
                try await tools.feedback.replace(Self.idFile, with: reservation.file)
                ids.note(reservation)
            }
            self.ids = ids
            troubles.ids.note(nil, about: Self.idFile)
            return ids
        } catch {
            troubles.ids.note(error, about: Self.idFile)
            throw .other("No notification can be numbered now; the log says why")
        }
    }

    private func feedback() async throws(CommandFault) -> DoorRecords.Report {
        _ = try await target()
        do {
            let report = try await tools.feedback.report(of: rules.app, includesInvalid: true)
            troubles.feedback.note(nil, about: rules.app)
            return report
        } catch {
            troubles.feedback.note(error, about: rules.app)
            throw .other("The feedback cannot be read now; the log says why")
        }
    }

    // MARK: Figures

    var figures: DoorCounts { counts }

    // MARK: The end

    func beginStopping() {
        isStopping = true
        socket?.waiter.wake()
    }

    func awaitIdle(until deadline: ContinuousClock.Instant) async {
        while isServing, .now < deadline, !Task.isCancelled {
            await idle.wait(until: min(deadline, .now + .seconds(1)))
        }
        socket = nil
    }
}

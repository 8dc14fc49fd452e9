import Configuration
import Document
import DoorModel
import JSON
import JobOperations
import LinuxIO
import Logging
import MicroHTTPD
import PushModel
import ServiceProcess
import SpoolModel

/// The door for JSON over HTTP/1.1: takes job files, and tells where jobs are and what feedback there is.
///
/// It runs on one reactor; files are others'.
actor JSONDoor: Door {
    nonisolated var name: String { "http" }
    nonisolated let reactor: Reactor
    let tools: Tools
    let front: HTTPFront
    private var book = ProducerBook()
    var calls: [Int: APICall] = [:]
    /// Why requests fail that would succeed on a spool in order.
    var troubles: Troubles
    private var named = NamedJobs<JobAnswer>(capacity: 50_000)
    /// Counts the configurations.
    private(set) var generation = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// What it works with.
    struct Tools: Sendable {
        let intake: JobIntake
        let reader: SpoolReader
        let probe: SpoolProbe
        let rates: ProducerRates
        let logger: Logger
    }

    /// How much of a job is kept in memory.
    private static let pieceByteCount = 64 << 10

    /// Creates a door that listens nowhere yet.
    init(_ set: DoorSet, at place: ListenPlace, with tools: Tools, on reactor: Reactor) {
        (self.tools, self.reactor) = (tools, reactor)
        front = HTTPFront(at: place, set.configuration, on: reactor)
        troubles = Troubles(("requests fail", "requests succeed again"), tools.logger)
        book.admit(set.configuration.producers.map(\.producer), bearers: set.bearers)
    }

    /// Applies a configuration. Streams of events end, since their clients may not be admitted any more.
    func configure(_ set: DoorSet) {
        book.admit(set.configuration.producers.map(\.producer), bearers: set.bearers)
        generation += 1
    }

    // MARK: Running

    func listen() throws {
        let place = try front.listen()
        tools.logger.notice("http listens", metadata: [LogKey.path: "\(place)"])
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            await front.run { request throws(APIProblem) in
                try admit(request)
            } handle: { event in
                if let work = handle(event) { group.addTask { await self.work(work) } }
            }
        }
    }

    /// Something to do that takes a while.
    private enum Work: Sendable {
        case append(Int, [UInt8])
        case conclude(Int, [UInt8])
        case continueFeedback(Int)
        case end(APICall)
    }

    /// Decides about a request whose head has arrived. Returns how many bytes of its body are kept at a time.
    private func admit(_ request: HTTPRequest) throws(APIProblem) -> Int {
        var call = try APICall(request, book, bodyLimit: front.bodyLimit)
        try count(&call)
        guard !call.mustBeWhole || front.reserveBody(of: request) else {
            settle(call, 0)
            throw .busy
        }
        calls[request.number] = call
        return call.mustBeWhole ? front.bodyLimit + 1 : Self.pieceByteCount
    }

    /// Counts a call that may drop a job as one notification of its producer.
    private func count(_ call: inout APICall) throws(APIProblem) {
        guard call.mayDrop, let producer = call.producer else { return }
        if let seconds = tools.rates.admit(producer, at: .now) { throw APIProblem.beyondRate(for: seconds) }
        call.isCounted = true
    }

    /// Counts the notifications that a call has dropped in place of the one.
    private func settle(_ call: APICall, _ count: Int) {
        guard calls[call.number]?.isCounted ?? call.isCounted, let producer = call.producer else { return }
        calls[call.number]?.isCounted = false
        tools.rates.settle(count, of: producer, at: .now)
    }

    private func handle(_ event: HTTPServer.Event) -> Work? {
        switch event {
        case .piece(let request), .whole(let request):
            guard request.bodyByteCount <= front.bodyLimit else {
                refuse(request.number, because: APIProblem.tooLong(front.bodyLimit))
                return nil
            }
            let bytes = request.takeBody()
            if case .piece = event { return .append(request.number, bytes) }
            return .conclude(request.number, bytes)
        case .drained(let request): return .continueFeedback(request.number)
        case .ended(let request, _):
            guard let call = calls.removeValue(forKey: request.number) else { return nil }
            return call.isUnfinished ? .end(call) : nil
        }
    }

    private func work(_ work: Work) async {
        switch work {
        case .append(let number, let bytes): await append(bytes, to: number)
        case .conclude(let number, let bytes): await conclude(number, bytes)
        case .continueFeedback(let number): await continueFeedback(number)
        case .end(let call):
            if let staged = call.staged { await tools.intake.abandon(staged) }
            if call.isStreaming { await tools.reader.end(call.number) }
        }
    }

    // MARK: Jobs

    /// Writes the next bytes of a job.
    private func append(_ bytes: [UInt8], to number: Int) async {
        do {
            try await write(bytes, to: number)
            front.proceed(number)
        } catch {
            refuse(number, because: error)
        }
    }

    /// Answers with the problem that an error is. What only the operator understands is logged.
    private func refuse(_ number: Int, because error: any Error) {
        let problem = APIProblem(error)
        if problem.status == 500 {
            troubles.note(error, about: calls[number]?.route.app ?? "")
        }
        if let call = calls[number] { settle(call, 0) }
        front.answer(number, HTTPResponse(problem))
    }

    private func write(_ bytes: [UInt8], to number: Int) async throws {
        guard var call = calls[number], case .submit = call.route else { return }
        var parser = JSON.Parser()
        let named = try call.content?.receive(bytes, with: &parser) ?? bytes
        calls[number] = call
        let staged: Int
        if let known = call.staged {
            staged = known
        } else {
            let target = try await target(of: call)
            guard let begun = await tools.intake.begin(call.fileName, for: target) else { throw APIProblem.unavailable }
            staged = begun
            // The client may have gone in the meantime.
            guard calls[number] != nil else { return await tools.intake.abandon(begun) }
            calls[number]?.staged = begun
        }
        guard await tools.intake.append(named, to: staged) else { throw APIProblem.unavailable }
    }

    func target(of call: APICall) async throws -> JobIntake.Target {
        guard let app = call.route.app, let target = try await tools.intake.target(app) else {
            throw APICall.noSuchApp
        }
        return target
    }

    private func conclude(_ number: Int, _ body: [UInt8]) async {
        guard let call = calls[number] else { return }
        do {
            switch call.route {
            case .submit: return try await submit(number, body)
            case .look(_, let job): front.answer(number, try await look(job, call))
            case .cancel(_, let job): front.answer(number, try await cancel(job, call))
            case .feedback(let app): try await beginFeedback(number, app, call)
            case .gorush: front.answer(number, try await push(body, call))
            case .live:
                front.answer(number, HTTPResponse(status: 200, contentType: "text/plain", body: Array("alive\n".utf8)))
            case .ready:
                let content = await tools.probe.report().content
                let status = content.isGood ? 200 : 503
                front.answer(number, HTTPResponse(status: status, contentType: "text/plain", body: content.bytes))
            case .metrics:
                let text = DoorCounts.metrics(
                    of: [(name, figures)], version: Version.current, lostLogLineCount: StandardStream.lostErrorCount)
                front.answer(number, HTTPResponse(status: 200, contentType: "text/plain; version=0.0.4", body: text))
            case .description:
                front.answer(number, HTTPResponse(status: 200, contentType: "application/json", body: OpenAPI.document))
            }
            if let app = call.route.app { troubles.note(nil, about: app) }
        } catch {
            refuse(number, because: error)
        }
    }

    private func submit(_ number: Int, _ body: [UInt8]) async throws {
        try await write(body, to: number)
        guard var call = calls[number] else { return }
        let target = try await target(of: call)
        var parser = JSON.Parser()
        let rest = try call.content?.finish(with: &parser) ?? []
        guard let staged = call.staged, await tools.intake.append(rest, to: staged) else {
            throw APIProblem.unavailable
        }
        guard let content = call.content, let producer = call.producer else {
            return front.answer(number, try await drop(staged, of: call, for: target).response)
        }
        let name = NamedJobs<JobAnswer>.Name(content.key, app: target.app.name)
        let origin = NamedJobs<JobAnswer>.Origin(producer.name, content.fingerprint)
        // The file of a repetition is removed when its request ends.
        let first = try named.begin(name, origin)
        if let first, await !tools.reader.hasFailed(first.receipt.name, in: first.app) {
            front.counts.repeatedCount += 1
            settle(call, 0)
            return front.answer(number, first.response)
        }
        do {
            let dropped = try await drop(staged, of: call, for: target)
            named.drop(name, origin, dropped.withoutFindings)
            front.answer(number, dropped.response)
        } catch {
            named.giveUp(name)
            throw error
        }
    }

    /// Drops a job that was written completely.
    private func drop(
        _ staged: Int, of call: APICall, for target: JobIntake.Target
    ) async throws(APIProblem) -> JobAnswer {
        let result = await tools.intake.finish(staged, for: target, isAllOrNothing: false)
        calls[call.number]?.staged = nil
        switch result {
        case .dropped(let receipt):
            front.counts.dropTimes.add(nanoseconds: receipt.time.wholeNanoseconds)
            front.counts.acceptedCount += 1
            settle(call, receipt.recipientCount)
            return JobAnswer(app: target.app.name, receipt: receipt)
        case .refused(let diagnostics):
            var problem = APIProblem(422, "the job would fail")
            problem.diagnostics = diagnostics
            throw problem
        case .unavailable: throw APIProblem.unavailable
        }
    }

    private func look(_ job: String, _ call: APICall) async throws -> HTTPResponse {
        let app = try await target(of: call).app.name
        guard let finding = try await tools.reader.find(job, in: app) else {
            throw APIProblem(
                404, "no job of this name waits or has ended",
                remedy: "if it was dropped, it is being sent; ask again a little later")
        }
        return HTTPResponse(status: 200, contentType: "application/json", body: finding.json)
    }

    private func cancel(_ job: String, _ call: APICall) async throws -> HTTPResponse {
        let app = try await target(of: call).app.name
        if try await tools.reader.cancel(job, in: app) {
            named.forget { $0.app == app && $0.receipt.name == job }
            return HTTPResponse(status: 204)
        }
        guard try await tools.reader.place(of: job, in: app) == nil else {
            throw APIProblem(409, "the job does not wait any more", remedy: "see GET of the same path")
        }
        throw APIProblem(
            404, "no job of this name waits", remedy: "if it is being sent, `pushspool cancel` on the host stops it")
    }

    private func push(_ body: [UInt8], _ call: APICall) async throws -> HTTPResponse {
        guard let producer = call.producer else { throw APIProblem.unauthorized }
        let result = try await GorushPush(
            body, fcmApp: call.fcmApp, by: producer, through: tools.intake
        ).result()
        settle(call, result.recipientCount)
        front.counts.acceptedCount += result.dropTimes.count
        for time in result.dropTimes { front.counts.dropTimes.add(nanoseconds: time.wholeNanoseconds) }
        return HTTPResponse(status: 200, contentType: "application/json", body: result.json)
    }

    // MARK: Figures

    var figures: DoorCounts { front.figures }

    // MARK: The end

    func beginStopping() { front.beginStopping() }

    func awaitIdle(until deadline: ContinuousClock.Instant) async { await front.awaitIdle(until: deadline) }
}

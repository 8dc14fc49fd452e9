import Configuration
import Document
import DoorModel
import JSON
import JobFormat
import JobOperations
import LinuxIO
import Logging
import MicroHTTPD
import PushModel
import ServiceProcess
import SpoolModel
import XML

/// The door for clients of pyapns: XML-RPC over HTTP/1.1.
///
/// It runs on one reactor; files are others'.
actor XMLRPCDoor: Door {
    nonisolated var name: String { "xmlrpc" }
    private nonisolated let reactor: Reactor
    private let tools: Tools
    private let rules: DoorConfiguration.XMLRPC
    private let front: HTTPFront
    private var book = ProducerBook()
    private var producers: [Int: Producer] = [:]
    /// The reports that clients were sent, until it is known that they have them.
    private var reports: [Int: DoorRecords.Report] = [:]
    /// The apps whose feedback is being told.
    private var told: Set<String> = []
    private let telling: Condition
    private var troubles: Troubles

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// What it works with.
    struct Tools: Sendable {
        let intake: JobIntake
        let feedback: DoorRecords
        let rates: ProducerRates
        let logger: Logger
    }

    /// How deep values may be nested.
    private static let depth = 32
    /// How often `provision` looks whether the daemon has an app.
    private static let lookPause = Duration.milliseconds(200)

    /// Creates a door that listens nowhere yet.
    init(_ set: DoorSet, _ rules: DoorConfiguration.XMLRPC, with tools: Tools, on reactor: Reactor) {
        (self.tools, self.rules, self.reactor) = (tools, rules, reactor)
        front = HTTPFront(at: rules.place, set.configuration, on: reactor)
        telling = Condition(on: reactor)
        troubles = Troubles(("feedback will be told again", "feedback is told once again"), tools.logger)
        book.admit(set.configuration.producers.map(\.producer), bearers: set.bearers)
    }

    func configure(_ set: DoorSet) { book.admit(set.configuration.producers.map(\.producer), bearers: set.bearers) }

    // MARK: Running

    func listen() throws {
        let place = try front.listen()
        tools.logger.notice("xmlrpc listens", metadata: [LogKey.path: "\(place)"])
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.runTellingLimit() }
            await front.run { request throws(APIProblem) in
                try admit(request)
            } handle: { event in
                if let work = handle(event) { group.addTask { await self.work(work) } }
            }
        }
    }

    /// Something to do that takes a while.
    private enum Work: Sendable {
        case call(Int, [UInt8])
        case confirm(DoorRecords.Report)
    }

    private func admit(_ request: HTTPRequest) throws(APIProblem) -> Int {
        let producer = try producer(of: request)
        guard request.announcedByteCount ?? 0 <= front.bodyLimit else { throw APIProblem.tooLong(front.bodyLimit) }
        guard front.reserveBody(of: request) else { throw APIProblem.busy }
        producers[request.number] = producer
        return front.bodyLimit + 1
    }

    /// Returns who sends a request.
    ///
    /// - Throws: Why it is not let in. Neither can a browser send this media type to another site unasked, nor a request
    ///   without `Origin` to what it takes for the page's own.
    private func producer(of request: HTTPRequest) throws(APIProblem) -> Producer {
        guard request.path == "/" else {
            throw APIProblem(404, "there is no such path", remedy: "send calls to /, without RPC2")
        }
        guard request.fields["origin"] == nil else {
            throw APIProblem(403, "a web page must not push", remedy: "send calls from a program, without Origin")
        }
        guard request.method == "POST" else {
            var problem = APIProblem(405, "\(request.method) is not a method of this path")
            problem.allowed = "POST"
            throw problem
        }
        guard ["text/xml", "application/xml"].contains(request.mediaType) else {
            throw APIProblem(415, "the Content-Type must be text/xml")
        }
        try request.requirePlainBody()
        if request.fields["authorization"] == nil, rules.place.isOfThisHost {
            guard let owner = rules.producer else { return Producer(name: name) }
            // It may have been removed since the start.
            guard let producer = book.producer(named: owner) else { throw .unauthorized }
            return producer
        }
        guard let producer = book.producer(behind: request) else { throw APIProblem.unauthorized }
        return producer
    }

    private func handle(_ event: HTTPServer.Event) -> Work? {
        switch event {
        case .piece(let request):
            front.answer(request.number, HTTPResponse(APIProblem.tooLong(front.bodyLimit)))
        case .whole(let request): return .call(request.number, request.takeBody())
        case .drained: break
        case .ended(let request, let isDelivered):
            producers[request.number] = nil
            guard let report = reports.removeValue(forKey: request.number) else { break }
            if isDelivered { return .confirm(report) }
            finishTelling(report.app)
        }
        return nil
    }

    private func work(_ work: Work) async {
        switch work {
        case .call(let number, let body): await call(number, body)
        case .confirm(let report): await confirm(report)
        }
    }

    // MARK: Calls

    private func call(_ number: Int, _ body: [UInt8]) async {
        guard let producer = producers[number] else { return }
        let response: MethodResponse
        do throws(MethodFault) {
            switch try PyapnsCall(reading: body, depth: Self.depth) {
            case .notify(let notify): response = try await self.notify(notify, by: producer)
            case .provision(let provision): response = try await self.provision(provision, by: producer)
            case .feedback(let app): response = .feedback(try await feedback(of: app, for: number, by: producer))
            }
        } catch {
            front.counts.refusals["fault \(error.code)", default: 0] += 1
            response = .fault(error)
        }
        guard front.isOpen(number) else {
            // The client has gone, and was told nothing.
            if let report = reports.removeValue(forKey: number) { finishTelling(report.app) }
            return
        }
        front.answer(number, HTTPResponse(status: 200, contentType: "text/xml", body: response.bytes))
    }

    private func target(
        _ app: String, for producer: Producer, isFresh: Bool = false
    ) async throws(MethodFault) -> JobIntake.Target? {
        guard producer.may(use: app) else { return nil }
        let target: JobIntake.Target?
        do {
            target = try await tools.intake.target(app, isFresh: isFresh)
        } catch {
            throw .notAccepted("\(error)")
        }
        // Not 404: on that, pyapns' client provisions the app.
        if let refusal = target?.refusalToAppleClients { throw .notAccepted(refusal) }
        return target
    }

    private func notify(_ notify: Notify, by producer: Producer) async throws(MethodFault) -> MethodResponse {
        guard let target = try await target(notify.app, for: producer) else { throw .unknownApp }
        guard notify.count > 0 else { return .nothing }
        guard tools.rates.admit(producer, at: .now) == nil else {
            throw .notAccepted("the producer's rate is used up; call again a little later")
        }
        let result = await tools.intake.drop(notify.job, as: "xmlrpc.json", for: target, isAllOrNothing: true)
        tools.rates.settle(result.recipientCount, of: producer, at: .now)
        switch result {
        case .dropped(let receipt):
            front.counts.dropTimes.add(nanoseconds: receipt.time.wholeNanoseconds)
            front.counts.acceptedCount += 1
            return .nothing
        case .refused(let diagnostics):
            throw .notAccepted(diagnostics.first { $0.severity == .error }?.sentence ?? "the job would fail")
        case .unavailable: throw .notAccepted("no job can be accepted now; the door's log says why")
        }
    }

    /// Accepts an app that exists; writes its configuration if it may, and waits for the daemon to take it in.
    private func provision(_ provision: Provision, by producer: Producer) async throws(MethodFault) -> MethodResponse {
        // Not 404: on that, pyapns' client provisions all its apps again, for ever.
        let unknown = MethodFault.notAccepted(
            "There is no app \(provision.app); the daemon's operator can add it, or set xmlrpc.provision: create")
        guard producer.may(use: provision.app) else { throw unknown }
        if rules.provision == .create {
            do {
                try await tools.intake.write(provision, to: rules.apps)
            } catch {
                throw .notAccepted("\(error)")
            }
        }
        let deadline = Moment.now + min(provision.timeout, .seconds(60))
        while true {
            if let known = try await target(provision.app, for: producer, isFresh: true) {
                let isSandbox = known.app.isSandbox == true
                if isSandbox == (provision.environment == .sandbox) { return .nothing }
                let other = isSandbox ? "sandbox" : "production"
                guard rules.provision == .create, Moment.now < deadline else {
                    throw .otherEnvironment(provision.environment.rawValue, than: other)
                }
            }
            guard rules.provision == .create else { throw unknown }
            guard Moment.now < deadline else {
                throw .notAccepted("the daemon has not taken the app in; its log says why")
            }
            do {
                guard !front.isStopping else { throw CancellationError() }
                try await reactor.sleep(for: Self.lookPause)
            } catch {
                throw .notAccepted("the door is stopping; call again")
            }
        }
    }

    // MARK: Feedback

    private func feedback(
        of app: String, for number: Int, by producer: Producer
    ) async throws(MethodFault) -> [LostToken] {
        guard try await target(app, for: producer) != nil else { throw .unknownApp }
        // Two clients must not be told the same tokens.
        guard await telling.wait(until: .now + .seconds(60), for: { !told.contains(app) }) else {
            throw .notAccepted("another client is being told the feedback; call again")
        }
        told.insert(app)
        do {
            let report = try await tools.feedback.report(of: app, includesInvalid: false)
            reports[number] = report
            return report.tokens
        } catch {
            finishTelling(app)
            throw .notAccepted("\(error)")
        }
    }

    private func confirm(_ report: DoorRecords.Report) async {
        do {
            try await tools.feedback.confirm(report)
            troubles.note(nil, about: report.app)
        } catch {
            troubles.note(error, about: report.app)
        }
        finishTelling(report.app)
    }

    /// How long a client may take to read its feedback: others of its app wait meanwhile.
    private static let tellingTime = Duration.seconds(300)

    /// Ends the connections of clients that have read their feedback for too long, until the task is cancelled.
    private func runTellingLimit() async {
        while !Task.isCancelled {
            try? await reactor.sleep(for: .seconds(10))
            for (number, report) in reports where Moment.now - report.madeAt > Self.tellingTime {
                front.breakOff(number)
            }
        }
    }

    private func finishTelling(_ app: String) {
        told.remove(app)
        telling.broadcast()
    }

    // MARK: Figures

    var figures: DoorCounts { front.figures }

    // MARK: The end

    func beginStopping() { front.beginStopping() }

    func awaitIdle(until deadline: ContinuousClock.Instant) async { await front.awaitIdle(until: deadline) }
}

extension PyapnsCall {
    /// Reads a call.
    ///
    /// - Throws: The fault to answer.
    fileprivate init(reading xml: [UInt8], depth: Int) throws(MethodFault) {
        let document = DocumentReader(
            xml, depth: MethodCallReader.elementDepth(for: depth), byteCount: max(1, xml.count))
        var reader = MethodCallReader(depth: depth)
        while let event = try Self.next(of: document) {
            do throws(MethodFault) {
                switch event {
                case .begin(let name): try reader.begin(name)
                case .text(let text): try reader.append(text: text)
                case .end: try reader.end()
                }
            } catch {
                throw error.at(document.place)
            }
        }
        let call = try reader.finish()
        try self.init(call.method, parameters: Self.root(of: call.parameters))
    }

    private static func next(of document: DocumentReader) throws(MethodFault) -> DocumentReader.Event? {
        do throws(Diagnostic) {
            return try document.next()
        } catch {
            throw MethodFault(malformed: error)
        }
    }

    private static func root(of json: [UInt8]) throws(MethodFault) -> Node {
        var parser = JSON.Parser()
        do throws(Diagnostic) {
            return try parser.parse(json).root
        } catch {
            throw .invalidParameters(error.message)
        }
    }
}

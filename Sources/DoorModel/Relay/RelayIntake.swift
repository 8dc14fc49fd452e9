package import APNSHTTP2
import APNSModel
package import APNSServing
package import Document
package import JobFormat
package import PushModel
import SpoolModel

/// Decides what becomes of the requests of a relay's clients.
///
/// Reads no clock and no file. The shell spools what it is told to spool, and reports with `settle` how that ended.
package struct RelayIntake<Parser: DocumentParser> {
    /// What to do with a request.
    package enum Decision: Sendable {
        /// Answer it at once.
        case answer(RelayAnswer)
        /// Spool it, and then answer it.
        case spool(Spooled)
        /// The same request is being spooled; answer it like that one.
        case follow(RecentIDs.Key)
    }

    /// A request to be spooled.
    package struct Spooled: Sendable {
        /// Who sent it.
        package let producer: Producer
        /// The app.
        package let app: String
        /// The recipient's line, or a job of its own, without a line feed.
        package let bytes: [UInt8]
        /// Whether the bytes are a line.
        package let isLine: Bool
        /// The bytes of the token, or the text of the channel.
        package let receiver: [UInt8]
        /// The id that the client chose; `nil` if it chose none, and so cannot repeat it.
        package let key: RecentIDs.Key?
    }

    /// Returns the name of the producer whose key a token names, if the token's signature was made with it.
    package typealias TokenCheck = @Sendable (SignedProviderToken) -> String?

    /// A producer that was ever admitted.
    private struct Entry {
        var producer: Producer
        /// The hash of its name.
        let hash: FNV1a

        init(_ producer: Producer) {
            self.producer = producer
            hash = FNV1a(producer.name.utf8.span)
        }
    }

    private var entries: [Entry] = []
    private var producerBehind: TokenCheck
    /// The source of ids for requests without one.
    private let idBase: JobID
    private var idCount = 0
    /// The apps; `nil`: it is not known yet which there are.
    private var router: AppRouter?
    /// Counts the changes of apps and producers. A route that was found before one may lead elsewhere now.
    private var generation = 0
    /// The contexts for the apps of the router.
    private var contexts: [JobContext] = []
    private var check: RecipientCheck<Parser>
    private var parser: Parser
    private var recent: RecentIDs
    private var pending: Set<RecentIDs.Key> = []
    private var line: [UInt8] = []
    /// The last requests that were checked.
    private var good: [GoodRequest] = []
    /// How many requests in a row were like none of them.
    private var strangeCount = 0
    private let recordsAll: Bool
    /// The tokens that are known to be gone.
    package var gone: KnownGone

    /// How many requests others are compared with, and after how many that were like none of them comparing is tried again.
    private static var goodLimit: Int { 8 }
    private static var strangePause: Int { 64 }

    /// Creates an intake that admits nobody and knows no apps yet.
    ///
    /// - Parameters:
    ///   - parser: A JSON parser with the daemon's limits for lines.
    ///   - known: The ids that were spooled lately, and the tokens that are known to be gone.
    ///   - idBase: Random bits, from which the ids of requests without one are derived.
    ///   - recordsAll: Whether the feedback about a broadcast's job must have its acceptance, too.
    package init(parser: Parser, _ known: (recent: RecentIDs, gone: KnownGone), idBase: JobID, recordsAll: Bool) {
        (self.parser, self.idBase, self.recordsAll) = (parser, idBase, recordsAll)
        (recent, gone) = known
        check = RecipientCheck(parser: parser)
        producerBehind = { _ in nil }
    }

    /// Admits these producers instead of earlier ones, of which those that are not among them may use no app any more.
    ///
    /// - Parameters:
    ///   - producers: The producers.
    ///   - producerBehind: Verifies provider tokens.
    /// - Returns: The places of the producers, in their order, for `RelayClient`. A name keeps its place.
    package mutating func admit(_ producers: [Producer], producerBehind: @escaping TokenCheck) -> [Int] {
        self.producerBehind = producerBehind
        generation += 1
        for place in entries.indices { entries[place].producer.apps = [] }
        return producers.map { producer in
            let place = entries.firstIndex { $0.producer.name == producer.name } ?? entries.count
            if place == entries.count { entries.append(Entry(producer)) }
            entries[place].producer = producer
            return place
        }
    }

    /// Replaces the apps. `contexts` has one context for each app of the router.
    package mutating func setApps(_ router: AppRouter, contexts: [JobContext]) {
        precondition(contexts.count == router.apps.count, "as many contexts as apps")
        (self.router, self.contexts) = (router, contexts)
        generation += 1
        good = []
    }

    /// Decides about a request.
    ///
    /// - Parameters:
    ///   - reading: Its head.
    ///   - body: Its payload.
    ///   - client: The client of the connection.
    ///   - now: The time by the boot clock and by the wall clock.
    /// - Returns: The decision, and the id to answer with.
    package mutating func decide(
        on reading: RequestReading, body: ArraySlice<UInt8>, from client: inout RelayClient,
        at now: (moment: Moment, wallTime: WallTime)
    ) -> (decision: Decision, id: NotificationID) {
        let own = reading.id.flatMap { NotificationID($0.span) }
        let id = own ?? makeID()
        do throws(Refused) {
            // Before the credentials, about which the daemon would complain otherwise.
            if let mark = client.mark, router?.marks.contains(mark) == true { throw Refused(.ownDoor) }
            let producer = try producer(of: reading, from: &client, at: now)
            if let fault = reading.headFault { throw Refused(fault) }
            let key = own.map { RecentIDs.Key(producer: entries[producer].hash, id: $0, to: reading.token) }
            if let key {
                if recent.contains(key, at: now.wallTime) { return (.answer(recordsAll ? .spooled : .accepted), id) }
                if pending.contains(key) { return (.follow(key), id) }
            }
            let place = try app(for: reading, of: producer, from: &client)
            guard let app = router?.apps[place] else { throw Refused(.serviceUnavailable) }
            if let since = gone.since(reading.token, of: app.name, at: now.wallTime) {
                var answer = RelayAnswer(.unregistered)
                answer.timestamp = since
                throw Refused(answer)
            }
            let topic = reading.isAboutChannel ? nil : reading.topic.map { String(decoding: $0, as: UTF8.self) }
            let isAdded = topic.map { app.adds($0, for: reading.pushType) } ?? true
            var recipient = RelayLine(reading, id: id, topic: isAdded ? nil : topic, at: now.wallTime)
            recipient.recordsAll = recordsAll
            try compile(recipient, reading, body, for: (app, contexts[place]))
            if let key { pending.insert(key) }
            let spooled = Spooled(
                producer: entries[producer].producer, app: app.name, bytes: line, isLine: !reading.isAboutChannel,
                receiver: reading.token, key: key)
            return (.spool(spooled), id)
        } catch {
            return (.answer(error.answer), id)
        }
    }

    /// Forgets an id whose request may come again, because the gateway did not take it and may do so later.
    package mutating func forget(_ key: RecentIDs.Key) { recent.forget(key) }

    /// Records how the spooling of a request with an id ended.
    package mutating func settle(_ key: RecentIDs.Key, isSpooled: Bool, at now: WallTime) {
        pending.remove(key)
        if isSpooled { recent.insert(key, at: now) }
    }

    // MARK: Steps

    private struct Refused: Error {
        let answer: RelayAnswer

        init(_ answer: RelayAnswer) { self.answer = answer }

        init(_ reason: Reason) { answer = RelayAnswer(reason) }
    }

    private mutating func producer(
        of reading: RequestReading, from client: inout RelayClient, at now: (moment: Moment, wallTime: WallTime)
    ) throws(Refused) -> Int {
        if let fault = reading.addressFault { throw Refused(fault) }
        if let place = client.certificateProducer { return place }
        let fault = client.tokens.fault(in: reading.authorization, at: now, parser: &parser) { token in
            guard let name = producerBehind(token) else { return nil }
            return entries.firstIndex { $0.producer.name == name }
        }
        if let fault { throw Refused(fault) }
        guard let place = client.tokens.key else { throw Refused(.invalidProviderToken) }
        client.provedAt = now.moment
        return place
    }

    private mutating func makeID() -> NotificationID {
        idCount += 1
        return NotificationID(job: idBase, index: idCount)
    }

    private func app(
        for reading: RequestReading, of producer: Int, from client: inout RelayClient
    ) throws(Refused) -> Int {
        let topic =
            switch reading.purpose {
            case .notification: reading.topic ?? []
            case .broadcast(let app): Array(app.utf8)[...]
            case .management: throw Refused(.badPath)
            }
        let authority = reading.authority ?? []
        if let route = client.route, route.generation == generation, route.producer == producer,
            route.type == reading.pushType, topic.isSame(as: route.topic), authority.isSame(as: route.authority)
        {
            return route.app
        }
        guard let router else { throw Refused(.serviceUnavailable) }
        guard !topic.isEmpty else { throw Refused(.missingTopic) }
        let match = router.match(
            topic: String(decoding: topic, as: UTF8.self), type: reading.pushType, for: entries[producer].producer,
            host: String(decoding: authority, as: UTF8.self))
        guard case .app(let app) = match else {
            throw Refused(reading.purpose == .notification ? .topicDisallowed : .topicMismatch)
        }
        client.route = .init(
            topic: Array(topic), type: reading.pushType, authority: Array(authority), producer: producer, app: app,
            generation: generation)
        return app
    }

    /// Writes the recipient into `line`, and checks it as the daemon will.
    private mutating func compile(
        _ recipient: RelayLine, _ reading: RequestReading, _ body: ArraySlice<UInt8>,
        for app: (listed: AppList.App, context: JobContext)
    ) throws(Refused) {
        guard !body.isEmpty else { throw Refused(.payloadEmpty) }
        line.removeAll(keepingCapacity: true)
        let isBroadcast = reading.isAboutChannel
        guard let payload = recipient.append(body, to: &line) else { throw Refused(.badRequestPayload) }
        // Comparing costs a tenth of a check, which is in vain for a program that sends no two requests of one form.
        let isCompared = !isBroadcast && (strangeCount < Self.goodLimit || strangeCount % Self.strangePause == 0)
        if isCompared, good.hasOne(like: reading, payload: payload, in: line, app: app.listed.name) {
            return strangeCount = 0
        }
        strangeCount += isBroadcast ? 0 : 1
        let verdict =
            isBroadcast
            ? check.verdict(onBroadcast: line, payload: payload, in: app.context)
            : check.verdict(on: line, payload: payload, in: app.context, isPattern: isCompared)
        switch verdict {
        case .sendable(nil): break
        case .sendable(let pattern?):
            // The oldest makes room.
            if good.count == Self.goodLimit { good.removeFirst() }
            good.append(GoodRequest(reading, pattern, app: app.listed.name))
        case .refused(let refusal): throw Refused(RelayAnswer(refusal))
        case .notAnObject: throw Refused(.badRequestPayload)
        }
    }
}

extension RelayIntake: Sendable where Parser: Sendable {}

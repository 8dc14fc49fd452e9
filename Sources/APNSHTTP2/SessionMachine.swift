package import APNSModel
package import Document
package import HTTP2

/// One connection to the gateway over HTTP/2: which notifications are on it, and what answers, resets and the end prove.
///
/// Does no I/O and reads no clock. The shell hands in what it read (`receive`), writes what is appended to `output`, asks
/// `next(_:)` for requests while there is `room`, and calls `tick` at `nextLook`.
package struct SessionMachine: ~Copyable {
    /// How a connection treats what it sends.
    package struct Options: Sendable {
        /// What all requests have in common.
        package var sender: RequestFields.Sender
        /// How long the gateway may take to say what it allows.
        package var readyTimeout = Duration.seconds(15)
        /// How long an answer may take.
        package var answerTimeout = Duration.seconds(30)
        /// How long a connection may be silent without work before it is asked whether it lives.
        package var idlePing = Duration.seconds(600)
        /// How long answers may stay away before the connection is asked whether it lives.
        package var silencePing = Duration.seconds(10)
        /// How long the answer to that question may take.
        package var pongTimeout = Duration.seconds(10)
        /// The most requests in flight, whatever the gateway allows.
        package var streamLimit = 1_000

        /// Creates options with the contract's defaults.
        package init(sender: RequestFields.Sender) {
            self.sender = sender
        }
    }

    /// How long a gateway may take for as many frames without any effect as are a flood.
    private static let floodPeriod = Duration.seconds(60)

    private var options: Options
    private var connection: ConnectionMachine
    private var window = RequestWindow()
    private var marks = DeliveryMarks()
    private var sheet: RequestSheet
    private var arrivals = Arrivals()
    private var heads = HeadCache()
    private var accepted: [Int] = []
    private var refused: [Int] = []
    /// How long answers took, acceptances and refusals alike; whoever takes it over empties it (`Histogram.absorb`).
    package var answerTimes = Histogram.ofAnswers
    private var pingSentAt: Moment?
    /// Since when frames without any effect are counted.
    private var floodsFrom: Moment
    private var lastArrival: Moment
    private var lastWrite: Moment
    private var pingCount: UInt64 = 0
    /// Whether an answer has shown that the gateway takes this connection's identity.
    package private(set) var isProven: Bool
    private let readyBy: Moment
    /// When the last standstill of the program or the machine ended, if there was one.
    private var awakeSince = Moment.zero
    private var hasRetired = false
    /// Whether an answer has stayed away for too long.
    package private(set) var isOverdue = false
    /// Whether requests that were returned are still in what the kernel has not taken: the connection must be cut before
    /// it takes more.
    package private(set) var isStuck = false

    /// Creates the machine of a connection that is open.
    package init(_ options: Options, at now: Moment) {
        self.options = options
        var wire = ConnectionMachine.Options()
        wire.streamLimit = options.streamLimit
        self.connection = ConnectionMachine(options: wire)
        self.sheet = RequestSheet(byteLimit: 16_384)
        self.isProven = options.sender.authorization == nil
        (self.lastArrival, self.lastWrite, self.floodsFrom) = (now, now, now)
        self.readyBy = now + options.readyTimeout
    }

    /// Appends what the connection begins with.
    package mutating func start(into output: inout [UInt8]) {
        connection.start(into: &output)
    }

    /// How many requests may be written now. With a provider token only one until the gateway has taken the token.
    package var room: Int {
        guard connection.isReady, !isRetired else { return 0 }
        let room = min(connection.room, window.room)
        return isProven ? room : min(room, max(0, 1 - window.count))
    }

    /// Whether all requests are in flight that the gateway allows: only then another connection is of use.
    package var isExhausted: Bool {
        connection.isReady && isProven && !isRetired && min(connection.room, window.room) == 0
    }

    /// Whether it takes no more requests: the gateway said so, an answer stayed away for too long, or there are no more
    /// numbers for streams.
    package var isRetired: Bool { hasRetired || connection.isClosing }

    /// How many notifications have no answer.
    package var doubtCount: Int { window.count }

    /// Whether the kernel has taken all requests that were written, as far as they were.
    package var hasNothingUnsent: Bool { marks.isPassed }

    /// Whether the gateway has said how many requests it takes.
    package var isReady: Bool { connection.isReady }

    /// Sends another value of `authorization` from the next request on.
    package mutating func authorize(_ authorization: String) {
        options.sender.authorization = authorization
    }

    /// Takes no more requests from now on.
    package mutating func retire() {
        hasRetired = true
    }

    /// Moves notifications from the front of `batch` to the connection, as many as one write holds and the windows allow,
    /// and lends their bytes to `send`: none when there is no room. The body of the last one may follow in `pump`.
    ///
    /// - Throws: What `send` throws; the notifications are on the connection then.
    package mutating func write<Failure: Error>(
        _ batch: inout Batch, at now: Moment, _ send: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        guard !batch.isEmpty, room > 0 else { return }
        lastWrite = now
        let tokens = batch.uniformTokens(atMost: batch.count)
        let payload = batch.sharedPayload?.bytes
        let body = payload ?? Array(batch.payload(at: batch.indices.lowerBound))
        let measures = RequestFields.Measures(tokenByteCount: tokens.byteCount, payloadByteCount: body.count)
        let head = heads.encoded(batch.attributes, measures, from: options.sender, by: &connection.encoder)
        let fitting = min(room, connection.capacity(bodyByteCount: body.count), payload == nil ? 1 : tokens.count)
        guard fitting > 0 else {
            let slow = batch.removeFirst(1)
            marks.begin(window.end)
            window.append(slow, at: now)
            let bytes = slowRequest(slow, head, body)
            return try send(bytes.span)
        }
        sheet.layOut(head, body: body, count: head.isRepeatable ? fitting : 1)
        let taken = batch.removeFirst(sheet.count)
        let first = connection.open(sheet.count, bodyByteCount: body.count)
        window.append(taken, at: now)
        fill(with: taken, tokens, bodyByteCount: body.count, from: first)
        try sheet.withFrames(send)
    }

    /// Appends what waits besides requests: bodies that windows now have room for.
    package mutating func pump(into output: inout [UInt8]) {
        for stream in connection.pump(into: &output) { marks.finish(RequestWindow.place(of: stream)) }
    }

    /// Notes that everything written so far ends in the stream's first `offset` bytes, of which the kernel has taken
    /// `handedOver`. To be called whenever something was written.
    package mutating func mark(offset: Int, handedOver: Int) {
        marks.add(end: window.end, offset: offset)
        marks.advance(to: handedOver)
        if marks.hasBodies { marks.forgetBodies { window.isOpen($0) } }
    }

    /// Takes bytes from the gateway, in any pieces, and appends what they call for to `output`.
    ///
    /// - Parameters:
    ///   - bytes: What was read.
    ///   - now: The present moment.
    ///   - readers: What decodes header blocks and bodies.
    ///   - output: Appended to.
    /// - Returns: What they say about notifications.
    package mutating func receive<Parser>(
        _ bytes: Span<UInt8>, at now: Moment, with readers: inout Readers<Parser>, output: inout [UInt8]
    ) -> SessionNews {
        lastArrival = now
        if now >= floodsFrom + Self.floodPeriod {
            connection.passWhile()
            floodsFrom = now
        }
        var news = SessionNews()
        arrivals.removeAll()
        do throws(ConnectionFault) {
            try connection.receive(bytes, with: readers.decoder, arrivals: &arrivals, output: &output)
        } catch {
            news.fault = error
        }
        accepted.removeAll(keepingCapacity: true)
        refused.removeAll(keepingCapacity: true)
        for event in arrivals.events {
            if case .response(let stream, 200, _, _) = event {
                accept(stream)
            } else {
                take(event, into: &news, with: &readers.parser)
            }
        }
        if !accepted.isEmpty {
            accepted.sort()
            news.accepted = window.batches(at: accepted)
            window.tally(accepted, at: now, into: &answerTimes)
        }
        if !refused.isEmpty {
            refused.sort()
            window.tally(refused, at: now, into: &answerTimes)
        }
        window.trim()
        return news
    }

    /// Looks whether an answer is overdue; appends what has to be asked or said. To be called at `nextLook`.
    ///
    /// - Parameters:
    ///   - now: The present moment.
    ///   - handedOver: How many bytes of the stream the kernel has taken.
    ///   - output: Appended to.
    /// - Returns: What is in doubt because its answer stayed away, and what the gateway cannot have whole; `isStuck` and
    ///   `isDead` tell whether the whole connection is of no more use.
    package mutating func tick(at now: Moment, handedOver: Int, output: inout [UInt8]) -> SessionNews {
        var news = SessionNews()
        let late =
            now < awakeSince + options.answerTimeout
            ? [] : window.closeAll(writtenBy: now + (.zero - options.answerTimeout))
        if !late.isEmpty {
            news = leftovers(of: late, handedOver: handedOver)
            isStuck = late.contains { !marks.hasLeft($0) && !marks.isUnfinished($0) }
            for place in late { connection.reset(RequestWindow.stream(at: place), .cancel, into: &output) }
            window.trim()
            isOverdue = true
            retire()
        }
        if connection.isReady, pingSentAt == nil, now >= nextPing {
            pingCount += 1
            connection.ping(pingCount, into: &output)
            pingSentAt = now
        }
        return news
    }

    /// Notes a look at the connection, before `isDead` and `tick` judge it.
    ///
    /// One that is later than `nextLook` asked for by a second shows that the program was stopped or the machine slept. What
    /// was written just before may not have left then, and no answer could come: what is waited for gets its whole time anew.
    package mutating func look(at now: Moment) {
        if now > nextLook + .seconds(1) { awakeSince = now }
    }

    /// Whether the gateway has not even answered a PING, or never said what it allows.
    package func isDead(at now: Moment) -> Bool {
        guard connection.isReady else { return now >= readyBy }
        guard let pingSentAt else { return false }
        return now >= max(pingSentAt, awakeSince) + options.pongTimeout
    }

    /// When to call `tick` next.
    package var nextLook: Moment {
        guard connection.isReady else { return readyBy }
        let ping = pingSentAt.map { max($0, awakeSince) + options.pongTimeout } ?? nextPing
        guard let oldest = window.oldest else { return ping }
        return min(ping, max(oldest, awakeSince) + options.answerTimeout)
    }

    /// Says what the end of the connection leaves: what the kernel never took whole was not sent, the rest is in doubt.
    package mutating func end(handedOver: Int) -> SessionNews {
        let news = leftovers(of: window.closeAll(), handedOver: handedOver)
        window.trim()
        return news
    }

    /// Appends the farewell of a connection with nothing on it.
    package mutating func close(into output: inout [UInt8]) {
        connection.close(into: &output)
    }
}

extension SessionMachine {
    /// What decodes the gateway's bytes.
    package struct Readers<Parser: DocumentParser> {
        /// For header blocks.
        package let decoder: any HeaderBlockDecoder
        /// For bodies.
        package var parser: Parser

        /// Creates the readers of one connection.
        package init(decoder: any HeaderBlockDecoder, parser: Parser) {
            (self.decoder, self.parser) = (decoder, parser)
        }
    }

    private var nextPing: Moment {
        window.count > 0
            ? max(lastArrival, window.oldest ?? lastArrival) + options.silencePing
            : max(lastArrival, lastWrite) + options.idlePing
    }

    private mutating func take(
        _ event: Arrivals.Event, into news: inout SessionNews, with parser: inout some DocumentParser
    ) {
        switch event {
        case .ready, .limitsChanged:
            break
        case .pong:
            pingSentAt = nil
        case .response(let stream, let status, let fields, let body):
            guard window.close(RequestWindow.place(of: stream)) else { return }
            refused.append(RequestWindow.place(of: stream))
            let reply = Reply(status: status, body: arrivals.bytes[body], parser: &parser)
            refuse(stream, reply, retryAfter: arrivals.fields.value(of: "retry-after", in: fields), into: &news)
        case .reset(let stream, let code):
            guard window.close(RequestWindow.place(of: stream)) else { return }
            let place = RequestWindow.place(of: stream)
            let isUnprocessed = code == .refusedStream || marks.isUnfinished(place)
            if isUnprocessed {
                news.returned += window.batches(at: [place])
            } else {
                news.doubtful += window.batches(at: [place])
            }
        case .goAway(let last, let code, let debug):
            retire()
            let places = window.closeAll(from: (Int(last) + 1) / 2)
            for place in places { connection.abandon(RequestWindow.stream(at: place)) }
            news.returned += window.batches(at: places)
            news.farewell = SessionNews.Farewell(code: code, debug: arrivals.bytes[debug], parser: &parser)
        }
    }

    /// Tells requests that the gateway may have from those that it cannot have whole.
    private mutating func leftovers(of places: [Int], handedOver: Int) -> SessionNews {
        var news = SessionNews()
        marks.advance(to: handedOver)
        news.doubtful = window.batches(at: places.filter(marks.hasLeft))
        news.returned = window.batches(at: places.filter { !marks.hasLeft($0) })
        return news
    }

    private mutating func accept(_ stream: UInt32) {
        let place = RequestWindow.place(of: stream)
        guard window.close(place) else { return }
        isProven = true
        accepted.append(place)
    }

    private mutating func refuse(
        _ stream: UInt32, _ reply: Reply, retryAfter: ArraySlice<UInt8>?, into news: inout SessionNews
    ) {
        // A refusal of the token itself leaves the gateway at one stream.
        if let failureClass = reply.failureClass, failureClass != .app, failureClass != .retryNow { isProven = true }
        let seconds = retryAfter.flatMap { Int(String(decoding: $0, as: UTF8.self)) }.map { max(0, min($0, 86_400)) }
        for batch in window.batches(at: [RequestWindow.place(of: stream)]) {
            news.refused.append(
                SessionNews.Refused(batch: batch, reply: reply, retryAfter: seconds.map { .seconds($0) }))
        }
    }

    private mutating func fill(
        with batch: Batch, _ tokens: Batch.UniformTokens, bodyByteCount: Int, from first: UInt32
    ) {
        sheet.setStreams(from: first)
        let stride = sheet.requestByteCount
        let tokenAt = sheet.offset(ofHole: RequestFields.tokenHole, request: 0)
        let idAt = sheet.offset(ofHole: RequestFields.idHole, request: 0)
        let lengthAt = sheet.offset(ofHole: RequestFields.lengthHole, request: 0)
        let storage = batch.tokenStorage
        sheet.withHoles { bytes in
            for request in 0..<batch.count {
                let start = tokens.offset + request * tokens.byteCount
                RequestFields.fill(
                    storage.span.extracting(start..<start + tokens.byteCount),
                    NotificationID(job: batch.job, index: batch.indices.lowerBound + request), into: &bytes,
                    at: (tokenAt + request * stride, idAt + request * stride))
                RequestFields.fill(bodyByteCount, into: &bytes, at: lengthAt + request * stride)
            }
        }
    }

    /// A request whose body has to wait for a window, or takes more than one frame; `pump` writes what there is room for.
    private mutating func slowRequest(_ one: Batch, _ head: EncodedHead, _ body: [UInt8]) -> [UInt8] {
        var filled = head
        let index = one.indices.lowerBound
        let token = Array(one.token(at: index))
        var bytes = filled.bytes.mutableSpan
        RequestFields.fill(
            token.span, NotificationID(job: one.job, index: index), into: &bytes,
            at: (head.holes[RequestFields.tokenHole], head.holes[RequestFields.idHole]))
        RequestFields.fill(body.count, into: &bytes, at: head.holes[RequestFields.lengthHole])
        var output: [UInt8] = []
        let stream = connection.open(body: body)
        connection.appendHead(filled, stream: stream, into: &output)
        pump(into: &output)
        return output
    }
}

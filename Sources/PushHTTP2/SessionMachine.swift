import Document
import HTTP2
package import PushModel

/// The state of one HTTP/2 connection to the gateway: the notifications on it, and the conclusions from answers, resets
/// and the end.
///
/// Does no I/O and reads no clock. The caller passes in the bytes it read (`receive`), writes the bytes appended to
/// `output`, calls `write` while there is `room`, and calls `tick` at `nextLook`.
package struct SessionMachine: ~Copyable {
    /// The period in which the number of frames without effect is limited; more are a flood.
    private static let floodPeriod = Duration.seconds(60)

    private var connection: ConnectionMachine
    private var window = RequestWindow()
    private var marks = DeliveryMarks()
    private var sheet: RequestSheet
    private var arrivals = Arrivals()
    private var dialect: any RequestDialect
    private var accepted: [Int] = []
    private var refused: [Int] = []
    /// The answer times of acceptances and refusals; the reader empties it (`Histogram.absorb`).
    package var answerTimes = Histogram.ofAnswers
    private var liveness: Liveness
    /// Since when frames without effect are counted.
    private var floodsFrom: Moment
    /// Whether an answer has shown that the gateway accepts this connection's identity.
    package private(set) var isProven: Bool
    private var hasRetired = false
    /// When the first request with the present value of `authorization` was written.
    private var authorizedAt: Moment?
    /// The length of the last request's body: the next request waits until the connection's window has as much.
    private var awaitedWindow = 0
    /// Whether an answer is or was overdue.
    package private(set) var isOverdue = false
    /// Whether it takes no more requests because it was idle.
    package private(set) var isIdle = false
    /// Whether a job of a request in flight wants lines about accepted notifications.
    private var hasRecorded = false
    /// How many requests in a row got an answer that reports a failure of the server.
    private var failureCount = 0
    /// Whether overdue requests, which are sent again elsewhere, may still reach the gateway: the peer's kernel has not
    /// acknowledged them. The connection must be cut. This harms no other request: all bytes behind them are on the way too.
    package private(set) var isStuck = false

    /// Creates the machine of an open connection.
    package init(_ options: SessionOptions, at now: Moment) {
        self.dialect = options.dialect
        var wire = ConnectionMachine.Options()
        (wire.streamLimit, wire.spoolMark) = (options.streamLimit, options.spoolMark)
        self.connection = ConnectionMachine(options: wire)
        self.sheet = RequestSheet(byteLimit: 16_384)
        self.isProven = options.dialect.authorization == nil
        (self.liveness, self.floodsFrom) = (Liveness(options.timeouts, at: now), now)
    }

    /// Appends the connection preface.
    package mutating func start(into output: inout [UInt8]) {
        connection.start(into: &output)
    }

    /// How many requests may be written now, if `inherited` others take a part of the window. With a provider token, only one
    /// until the gateway has accepted the token, whose limit of streams says nothing of the window until then.
    package func room(besides inherited: Int = 0) -> Int {
        guard connection.isReady, !isRetired, !isWindowUsedUp else { return 0 }
        let room = min(connection.room, window.room)
        return max(0, isProven ? room - inherited : min(room, 1 - window.count))
    }

    /// Whether the requests in flight have reached the gateway's limits. Only then is another connection useful.
    package var isExhausted: Bool {
        connection.isReady && isProven && !isRetired && (isWindowUsedUp || min(connection.room, window.room) == 0)
    }

    /// Whether the connection's window does not allow the body of the next request. Its head would only begin a request
    /// that the gateway cannot act on. With nothing in flight, no answer can widen the window, so what there is must do.
    private var isWindowUsedUp: Bool { connection.sendWindowByteCount < awaitedWindow && window.count > 0 }

    /// Whether it takes no more requests: the gateway said so, an answer is overdue, or the stream ids are used up.
    package var isRetired: Bool { hasRetired || connection.isClosing }

    /// After this many failures of the server in a row, the connection is replaced: it may lead to the only server that
    /// fails.
    package static let failureLimit = 10

    /// Whether the server has only reported failures of its own lately.
    package var isFailing: Bool { failureCount >= Self.failureLimit }

    /// The number of unanswered notifications.
    package var doubtCount: Int { window.count }

    /// Whether the kernel has taken every request byte that was written.
    package var hasNothingUnsent: Bool { marks.isPassed }

    /// Whether the gateway has sent its SETTINGS.
    package var isReady: Bool { connection.isReady }

    /// Returns how many bytes of answers to let gather before they are read.
    ///
    /// Answers of a distant or a busy gateway trickle in, and each would wake the program for itself. While they gather, the
    /// gateway works on the others in flight: as many as usually come in a thirty-second of the way there and back cost about
    /// as much throughput, and a quarter of those in its queue leave it enough. With few requests in flight, answers are
    /// worth more than the processor's time, and with a gateway that answers at once nothing would gather.
    ///
    /// - Parameter byteCount: How many bytes were read so far, which tells how long answers are.
    /// - Returns: The number of bytes, and the longest wait for them; `nil` to read each answer when it comes.
    package mutating func gathering(after byteCount: Int) -> (byteCount: Int, time: Duration)? {
        guard window.count >= Self.leastGathering, let times = window.answerTimes else { return nil }
        let queue = max(times.usual - times.shortest, 0)
        let time = min(times.shortest / 32 + queue / 4, Self.longestPause)
        guard time >= Self.shortestGathering else { return nil }
        let mean = window.meanAnswer(after: byteCount)
        // With the one after those that come in that time: the part of one that is left over is no reason to wake.
        let expected = Int64(window.count) * time / times.usual + 1
        // Where not all streams are in use, or a body waits for a window, other news are worth more than an answer.
        let isFull = min(connection.room, window.room) == 0 && !isWindowUsedUp && !connection.hasUploads
        guard let mean, expected > 1, isFull else {
            return (Self.largestRead, .nanoseconds(time))
        }
        return (mean * Int(expected), .nanoseconds(min(times.usual, Self.longestGathering)))
    }

    private static let leastGathering = 16
    private static let largestRead = 65_536
    /// In nanoseconds, as all times here: a `Duration` takes long to divide.
    private static let (shortestGathering, longestPause, longestGathering) = (
        Int64(50_000), Int64(3_000_000), Int64(50_000_000)
    )

    /// Uses another value of `authorization` from the next request on. If the gateway has seen the last one for less than
    /// the dialect's pause here, it would refuse another: then takes no more requests.
    ///
    /// - Returns: Whether it uses it.
    package mutating func authorize(_ authorization: String, at now: Moment) -> Bool {
        if let authorizedAt, now < authorizedAt + dialect.leastAuthorizationPause {
            retire()
            return false
        }
        (dialect.authorization, authorizedAt) = (authorization, nil)
        return true
    }

    /// Takes no more requests.
    package mutating func retire() {
        hasRetired = true
    }

    /// Moves notifications from the front of `batch` to the connection, up to the limits of one write and the windows,
    /// and passes their bytes to `send`. Without room, also in the connection's window, does nothing. The body of the last
    /// one may follow in `pump`.
    ///
    /// - Throws: Rethrows from `send`; the notifications are on the connection by then.
    package mutating func write<Failure: Error>(
        _ batch: inout Batch, at instant: Instant, _ send: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        guard !batch.isEmpty, room() > 0 else { return }
        let now = instant.moment
        liveness.noteWrite(at: now)
        if authorizedAt == nil { authorizedAt = now }
        hasRecorded = batch.recordsAll || hasRecorded && window.count > 0
        let run = dialect.run(of: batch, at: instant.wall)
        awaitedWindow = run.body.count
        guard !isWindowUsedUp else { return }
        let head = dialect.head(of: run, by: &connection.encoder)
        let fitting = min(room(), connection.capacity(bodyByteCount: run.body.count), run.count)
        guard fitting > 0 else {
            marks.begin(window.end)
            window.append(batch.removeFirst(1), at: now)
            let bytes = slowRequest(run, head)
            return try send(bytes.span)
        }
        sheet.layOut(head, body: run.body, count: head.isRepeatable ? fitting : 1)
        let first = connection.open(sheet.count, bodyByteCount: run.body.count)
        window.append(batch.removeFirst(sheet.count), at: now)
        sheet.setStreams(from: first)
        dialect.fill(&sheet, with: run)
        try sheet.withFrames(send)
    }

    /// Appends pending bytes other than new requests: bodies that the windows now have room for.
    package mutating func pump(into output: inout [UInt8]) {
        for stream in connection.pump(into: &output) { marks.finish(RequestWindow.place(of: stream)) }
    }

    /// The place after the last request.
    package var requestEnd: Int { window.end }

    /// Notes that everything written so far, or all requests before the place `end`, is in the first `offset` bytes of the
    /// stream, of which the kernel has taken `handedOver`. Call it after every record.
    package mutating func mark(end: Int? = nil, offset: Int, handedOver: Int) {
        marks.add(end: end ?? window.end, offset: offset)
        marks.advance(to: handedOver)
    }

    /// Processes bytes from the gateway, in pieces of any size, and appends responses to them to `output`.
    ///
    /// - Parameters:
    ///   - bytes: The bytes read.
    ///   - now: The current time.
    ///   - readers: The decoders of header blocks and bodies.
    ///   - output: Appended to.
    /// - Returns: The news about notifications.
    package mutating func receive<Parser>(
        _ bytes: Span<UInt8>, at now: Moment, with readers: inout SessionReaders<Parser>, output: inout [UInt8]
    ) -> SessionNews {
        liveness.noteArrival(at: now)
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
        let readsIDs = dialect.readsIDs == .all || hasRecorded && dialect.readsIDs == .recorded
        for event in arrivals.events {
            if readsIDs { noteUniqueID(in: event, for: &news, with: &readers.parser) }
            if case .response(let stream, 200, _, _) = event {
                accept(stream)
            } else {
                handle(event, into: &news, with: &readers.parser)
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
        trim()
        return news
    }

    /// Checks for overdue answers, and appends the resets and PINGs that are due. Call it at `nextLook`.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - handedOver: The number of bytes of the stream that the kernel has taken.
    ///   - acknowledged: The number of bytes that the peer's kernel has acknowledged. Asked for if an answer is overdue.
    ///   - output: Appended to.
    /// - Returns: The overdue notifications, as in doubt, or as returned if the gateway cannot have the complete
    ///   request. Then check `isStuck` and `isDead`, which mean that the whole connection is unusable.
    package mutating func tick(
        at now: Moment, handedOver: Int, acknowledged: @autoclosure () -> Int, output: inout [UInt8]
    ) -> SessionNews {
        var news = SessionNews()
        let late = liveness.overdueSince(at: now).map { window.closeAll(writtenBy: $0) } ?? []
        if !late.isEmpty {
            news = leftovers(of: late, handedOver: handedOver)
            let whole = late.filter { !marks.isUnfinished($0) }
            isStuck = !marks.areAcknowledged(whole, within: acknowledged())
            for place in late {
                connection.reset(RequestWindow.stream(at: place), .cancel, into: &output)
                marks.forget(place)
            }
            trim()
            isOverdue = true
            retire()
        }
        if connection.isReady, dialect.closesWhenIdle, liveness.isIdle(at: now, oldest: window.oldest) {
            isIdle = true
            retire()
        } else if connection.isReady, let ping = liveness.duePing(at: now, oldest: window.oldest) {
            connection.ping(ping, into: &output)
        }
        return news
    }

    /// Notes that the connection is being checked, before `isDead` and `tick` judge it.
    ///
    /// A check more than a second after `nextLook` shows that the program was stopped or the machine slept. Requests
    /// written just before may not have left, and answers could not arrive, so all timeouts start again.
    package mutating func look(at now: Moment) {
        liveness.look(at: now, due: nextLook)
    }

    /// Whether a PING is unanswered, or SETTINGS were never received, for too long.
    package func isDead(at now: Moment) -> Bool { liveness.isDead(at: now, isReady: connection.isReady) }

    /// When to call `tick` next.
    package var nextLook: Moment { liveness.nextLook(isReady: connection.isReady, oldest: window.oldest) }

    /// Returns the unanswered notifications at the end of the connection. Requests that the kernel never took
    /// completely are returned, the rest are in doubt.
    package mutating func end(handedOver: Int) -> SessionNews {
        let news = leftovers(of: window.closeAll(), handedOver: handedOver)
        trim()
        return news
    }

    /// Appends the GOAWAY of a connection without open requests.
    package mutating func close(into output: inout [UInt8]) {
        connection.close(into: &output)
    }
}

extension SessionMachine {
    private mutating func handle(
        _ event: Arrivals.Event, into news: inout SessionNews, with parser: inout some DocumentParser
    ) {
        switch event {
        case .ready, .limitsChanged:
            break
        case .pong:
            liveness.notePong()
        case .response(let stream, let status, let fields, let body):
            guard close(RequestWindow.place(of: stream)) else { return }
            refused.append(RequestWindow.place(of: stream))
            let reply = dialect.reply(status: status, body: arrivals.bytes[body], parser: &parser)
            refuse(stream, reply, retryAfter: arrivals.fields.retryAfter(in: fields), into: &news)
        case .reset(let stream, let code):
            let place = RequestWindow.place(of: stream)
            let isUnprocessed = code == .refusedStream || marks.isUnfinished(place)
            guard close(place) else { return }
            if isUnprocessed {
                news.returned += window.batches(at: [place])
            } else {
                news.doubtful += window.batches(at: [place])
            }
        case .goAway(let last, let code, let debug):
            retire()
            let places = window.closeAll(from: (Int(last) + 1) / 2)
            for place in places {
                connection.abandon(RequestWindow.stream(at: place))
                marks.forget(place)
            }
            news.returned += window.batches(at: places)
            let accusation = dialect.accusation(inGoAway: arrivals.bytes[debug], parser: &parser)
            news.farewell = SessionNews.GoAwayInfo(code: code, debug: arrivals.bytes[debug], accusation)
        }
    }

    /// Separates requests that the gateway may have completely from those it cannot have.
    private mutating func leftovers(of places: [Int], handedOver: Int) -> SessionNews {
        var news = SessionNews()
        marks.advance(to: handedOver)
        news.doubtful = window.batches(at: places.filter(marks.hasLeft))
        news.returned = window.batches(at: places.filter { !marks.hasLeft($0) })
        return news
    }

    private mutating func trim() {
        window.trim()
        marks.trim(before: window.start)
    }

    private func noteUniqueID(
        in event: Arrivals.Event, for news: inout SessionNews, with parser: inout some DocumentParser
    ) {
        guard case .response(let stream, let status, let fields, let body) = event else { return }
        let batches = window.batches(at: [RequestWindow.place(of: stream)])
        if dialect.readsIDs == .recorded {
            guard status == 200, batches.first?.recordsAll == true else { return }
        }
        let id = dialect.uniqueID(in: arrivals.fields, fields, body: arrivals.bytes[body], parser: &parser)
        if let id { news.note(id, of: batches) }
    }

    private mutating func accept(_ stream: UInt32) {
        let place = RequestWindow.place(of: stream)
        guard close(place) else { return }
        isProven = true
        failureCount = 0
        accepted.append(place)
    }

    /// Notes that a request has ended. Returns whether it was open.
    private mutating func close(_ place: Int) -> Bool {
        marks.forget(place)
        return window.close(place)
    }

    private mutating func refuse(_ stream: UInt32, _ reply: Reply, retryAfter: Duration?, into news: inout SessionNews)
    {
        failureCount = reply.isServerFailure ? failureCount + 1 : 0
        // While the token itself is refused, the gateway allows only one stream.
        if let failureClass = reply.failureClass, failureClass != .app, failureClass != .retryNow { isProven = true }
        for batch in window.batches(at: [RequestWindow.place(of: stream)]) {
            news.refused.append(SessionNews.Refused(batch: batch, reply: reply, retryAfter: retryAfter))
        }
    }

    /// Returns a request whose body must wait for a window or needs more than one frame. `pump` writes as much of the
    /// body as there is room for.
    private mutating func slowRequest(_ run: RequestRun, _ head: EncodedHead) -> [UInt8] {
        var output: [UInt8] = []
        let first = dialect.first(of: run, head)
        let stream = connection.open(body: first.body)
        connection.appendHead(first.head, stream: stream, into: &output)
        pump(into: &output)
        return output
    }
}

import APNSBinary
import PushModel

/// The logic of one connection of a simulated gateway: consumes bytes, produces ledger entries and the next step.
///
/// The shell calls `step(at:)`, performs the step, passes in the bytes it read, and calls again. Uses no clock and no socket.
struct GatewayPolicy {
    /// The next step of the shell.
    enum Step: Hashable {
        /// Read at most this many bytes, and wait for them until the moment at the latest.
        case read(atMost: Int, until: Moment?)
        /// Do not read until the moment; `nil` means forever.
        case wait(until: Moment?)
        /// Write these bytes.
        case send([UInt8])
        /// Close with close_notify and pass in the bytes that still arrive. The peer has until the moment to close.
        case close(until: Moment)
        /// Send FIN without close_notify, but continue to read.
        case cut
        /// Close the listening socket for a while.
        case stopListening(Duration)
        /// Close the descriptor, with RST or without. The connection has ended.
        case release(resetting: Bool)
    }

    private enum State {
        case open
        case paused(until: Moment?)
        /// A refusal is pending: everything that arrives is discarded.
        case doomed(Farewell, due: Moment)
        case saidFarewell(FaultAction.Ending)
        case closing(Closing)
    }

    private struct Farewell {
        var bytes: [UInt8] = []
        var ending = FaultAction.Ending.close
    }

    /// The number of bytes that one read requests: several TLS records.
    static let chunkByteCount = 65_536
    /// The time that the peer has to close its side after the gateway has closed its own.
    static let drainTime = Duration.seconds(2)

    let connection: Int
    private var state = State.open
    private var peerHasEnded = false
    /// Whether the bytes can no longer be split into notifications.
    private var isGarbled = false
    private var pace = ReadPace()
    private var listeningStop: Duration?
    private var arrivedCount = 0
    private var lastAccepted: UInt32 = 0

    /// Begins a connection after a successful handshake. Connection numbers start at 1.
    init(connection: Int, at now: Moment, sharing shared: inout GatewayState) {
        self.connection = connection
        pause(at: now, sharing: &shared)
    }

    /// Returns the shell's next step.
    mutating func step(at now: Moment) -> Step {
        if let duration = listeningStop {
            listeningStop = nil
            return .stopListening(duration)
        }
        switch state {
        case .open:
            return peerHasEnded ? conclude(.close, at: now) : read(until: nil, at: now)
        case .paused(let until):
            resume(at: now)
            if case .paused = state { return .wait(until: until) }
            return step(at: now)
        case .doomed(let farewell, let due):
            guard now >= due else { return read(until: due, at: now) }
            state = .saidFarewell(farewell.ending)
            return farewell.bytes.isEmpty ? step(at: now) : .send(farewell.bytes)
        case .saidFarewell(let ending):
            return conclude(ending, at: now)
        case .closing(var closing):
            let step = closing.step(peerHasEnded: peerHasEnded, at: now)
            state = .closing(closing)
            return step ?? read(until: nil, at: now)
        }
    }

    /// Records that the peer has ended its side of the connection.
    mutating func peerEnded() {
        peerHasEnded = true
    }

    /// Ends the connection immediately, in any state.
    mutating func drop(resetting: Bool) {
        state = resetting ? .saidFarewell(.reset) : .saidFarewell(.close)
    }

    /// Records the bytes read, which limit the pace of a slow gateway.
    mutating func didRead(_ byteCount: Int, at now: Moment) {
        pace.didRead(byteCount, at: now)
    }

    /// Consumes the notifications at the start of `bytes`.
    ///
    /// - Returns: The number of bytes consumed. The caller must pass the rest again after the next step, followed by
    ///   the bytes that have arrived since.
    mutating func consume(_ bytes: Span<UInt8>, at now: Now, sharing shared: inout GatewayState) -> Int {
        var offset = 0
        resume(at: now.moment)
        while offset < bytes.count, isListening {
            if isGarbled { return bytes.count }
            do {
                let rest = bytes.extracting(offset...)
                guard let frame = try NotificationFrame(decoding: rest) else { break }
                handle(frame, of: rest, at: now, sharing: &shared)
                offset += frame.byteCount
            } catch {
                isGarbled = true
                refuse(error, at: now.moment, sharing: &shared)
            }
        }
        return offset
    }

    /// One reading of both clocks.
    struct Now {
        let moment: Moment
        let wallTime: WallTime
    }

    /// Ends an expired pause.
    private mutating func resume(at now: Moment) {
        if case .paused(let until?) = state, now >= until { state = .open }
    }

    private var isListening: Bool {
        switch state {
        case .open, .doomed, .saidFarewell: true
        case .paused: false
        case .closing(let closing): closing != .over
        }
    }
}

// Processing of notifications.
extension GatewayPolicy {
    private mutating func handle(
        _ frame: NotificationFrame, of bytes: Span<UInt8>, at now: Now, sharing shared: inout GatewayState
    ) {
        arrivedCount += 1
        let outcome: Ledger.Outcome
        if case .open = state {
            outcome = judge(frame, of: bytes, at: now.moment, sharing: &shared)
        } else {
            outcome = .discarded
        }
        shared.note(
            frame, of: bytes,
            as: .init(connection: connection, sequence: arrivedCount, time: now.wallTime, outcome: outcome))
        if case .open = state { pause(at: now.moment, sharing: &shared) }
    }

    private mutating func judge(
        _ frame: NotificationFrame, of bytes: Span<UInt8>, at now: Moment, sharing shared: inout GatewayState
    ) -> Ledger.Outcome {
        if let action = shared.scripts[.binary]?.arrived(
            token: bytes.extracting(frame.token), payload: bytes.extracting(frame.payload), count: arrivedCount,
            on: connection),
            let outcome = act(action, on: frame, at: now)
        {
            return outcome
        }
        guard let status = shared.rules.fault(in: frame, of: bytes) else {
            lastAccepted = frame.identifier ?? 0
            return .accepted
        }
        let reply = FaultAction.Reply(
            status: status.rawValue,
            naming: status == .missingDeviceToken && shared.rules.namesZeroForEmptyTokens ? .number(0) : .refused,
            delay: shared.rules.answerDelay)
        return act(.reply(reply), on: frame, at: now) ?? .accepted
    }

    /// Performs an action of the script for a notification, or for the moment between two.
    ///
    /// - Returns: The outcome of the notification, or `nil` if the rules decide it.
    private mutating func act(
        _ action: FaultAction, on frame: NotificationFrame?, at now: Moment
    ) -> Ledger.Outcome? {
        switch action {
        case .reply(let reply):
            var farewell = Farewell(ending: reply.ending)
            if frame?.format.carriesIdentifier ?? true { farewell.bytes = bytes(of: reply, refusing: frame) }
            state = .doomed(farewell, due: now + reply.delay)
            guard reply.status == Status.shutdown.rawValue else { return .refused(status: reply.status) }
            // Status 10 does not refuse the named notification, which was accepted.
            return reply.naming == .refused ? .accepted : .discarded
        case .end(let ending, let delay):
            state = .doomed(Farewell(ending: ending), due: now + delay)
            return .discarded
        case .pause(let duration):
            state = .paused(until: duration.map { now + $0 })
            return duration == nil ? .discarded : nil
        case .slow(let rate):
            pace.slow(to: rate, at: now)
            return nil
        case .stopListening(let duration):
            listeningStop = duration
            return nil
        case .refuseConnection, .failHandshake, .withholdTickets:
            return nil
        case .answer, .latency, .withhold, .mute, .goAway, .refuseStream, .settings, .grant, .flood, .unknownFrame,
            .ignorePings, .inform:
            return nil
        }
    }

    private func bytes(of reply: FaultAction.Reply, refusing frame: NotificationFrame?) -> [UInt8] {
        let identifier =
            switch reply.naming {
            case .refused: frame?.identifier ?? 0
            case .lastAccepted: lastAccepted
            case .number(let number): number
            }
        var bytes: [UInt8] = []
        ErrorReply(status: Status(rawValue: reply.status), identifier: identifier).encode(to: &bytes)
        bytes[0] = reply.command
        return Array(bytes.prefix(reply.byteCount))
    }

    /// Answers bytes that are not a notification. The stream cannot be parsed beyond them.
    private mutating func refuse(_ error: DecodingError, at now: Moment, sharing shared: inout GatewayState) {
        guard case .open = state else { return }
        var farewell = Farewell()
        let status = Status.protocolError
        switch error {
        case .unexpectedCommand:
            break
        case .frameTooLong:
            ErrorReply(status: status, identifier: 0).encode(to: &farewell.bytes)
        case .malformedItems(let identifier):
            ErrorReply(status: status, identifier: identifier ?? 0).encode(to: &farewell.bytes)
        }
        shared.ledger.noteUnreadable(status: status.rawValue)
        state = .doomed(farewell, due: now + shared.rules.answerDelay)
    }

    /// Performs the script's action for the moment between two notifications, if any.
    private mutating func pause(at now: Moment, sharing shared: inout GatewayState) {
        guard let action = shared.scripts[.binary]?.pausing(after: arrivedCount, on: connection) else { return }
        _ = act(action, on: nil, at: now)
    }
}

// The next step.
extension GatewayPolicy {
    private func read(until deadline: Moment?, at now: Moment) -> Step {
        peerHasEnded ? .wait(until: deadline) : pace.step(until: deadline, at: now)
    }

    private mutating func conclude(_ ending: FaultAction.Ending, at now: Moment) -> Step {
        let (closing, step) = Closing.begin(ending, at: now)
        state = .closing(closing)
        return step ?? self.step(at: now)
    }
}

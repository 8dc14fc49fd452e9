/// The action of a script's rule.
enum FaultAction: Hashable, Sendable {
    /// Sends an answer of six bytes, or a variant of it, and discards everything that follows.
    case reply(Reply)
    /// Ends the connection without an answer.
    case end(Ending, delay: Duration)
    /// Stops reading; `nil` means forever.
    case pause(Duration?)
    /// Limits reading to this many bytes per second from now on.
    case slow(bytesPerSecond: Int)
    /// Resets a connection as soon as it is accepted.
    case refuseConnection
    /// Closes the listening socket for a while, so that new connections are refused.
    case stopListening(Duration)
    /// Makes the TLS handshake fail.
    case failHandshake(HandshakeFault)
    /// Sends no session ticket, so that a TLS 1.3 client receives nothing after its handshake.
    case withholdTickets
    /// Answers a request over HTTP/2 with a status and a reason.
    case answer(Answer)
    /// Delays all later answers by a varying time.
    case latency(Duration, jitter: Duration)
    /// Accepts a request and never answers it.
    case withhold
    /// Continues to read, but does and answers nothing from now on, not even a PING.
    case mute
    /// Announces the end of the connection and leaves the latest requests unprocessed.
    case goAway(GoAway)
    /// Resets a request's stream without processing it.
    case refuseStream(code: UInt32)
    /// Changes the settings.
    case settings(ChangedSettings)
    /// Refills the connection's window only after this many body bytes; 0 means never.
    case grant(byteCount: Int)
    /// Sends many frames without content.
    case flood(Flood, count: Int)
    /// Sends a frame of an unknown type.
    case unknownFrame
    /// Leaves the client's PINGs unanswered from now on.
    case ignorePings
    /// Sends an informational answer first.
    case inform(status: Int)

    /// The way in which a connection ends.
    enum Ending: String, Hashable, Sendable, CaseIterable {
        /// close_notify, then FIN.
        case close
        /// FIN without close_notify.
        case cut
        /// RST.
        case reset
        /// Not at all: the connection stays open and everything is discarded.
        case stay
    }

    /// The way in which a handshake fails.
    enum HandshakeFault: String, Hashable, Sendable, CaseIterable {
        /// The end of the stream instead of an answer.
        case close
        /// The fatal alert handshake_failure.
        case alert
        /// Bytes that are not TLS.
        case junk
    }

    /// The answer to a notification.
    struct Reply: Hashable, Sendable {
        /// The notification that the answer names.
        enum Naming: Hashable, Sendable {
            /// The refused one, or 0 if it has no identifier.
            case refused
            /// The last notification accepted on the connection, or 0.
            case lastAccepted
            /// This number, whether or not a notification has it.
            case number(UInt32)
        }

        var status: UInt8
        var naming = Naming.refused
        /// The delay of the answer. Notifications that arrive in the meantime are read and discarded.
        var delay = Duration.zero
        /// The first byte; 8 is the correct one.
        var command: UInt8 = 8
        /// The number of the six bytes that are sent.
        var byteCount = 6
        /// The end of the connection after the answer.
        var ending = Ending.close
    }

    /// The occasion on which a rule with this action is checked.
    enum Occasion: Hashable, Sendable {
        case connecting, betweenNotifications, notification
    }

    /// Whether the action concerns a connection that is not open yet.
    var belongsToConnecting: Bool {
        switch self {
        case .refuseConnection, .failHandshake, .withholdTickets: true
        case .reply, .end, .pause, .slow, .stopListening: false
        case .answer, .latency, .withhold, .mute, .goAway, .refuseStream, .settings, .grant, .flood, .unknownFrame,
            .ignorePings, .inform:
            false
        }
    }

    /// Whether the action answers a notification and so must wait for one.
    var answersNotification: Bool {
        switch self {
        case .reply(let reply): reply.naming != .lastAccepted
        case .goAway(let goAway): goAway.undoneCount > 0
        case .answer, .withhold, .refuseStream, .inform: true
        case .end, .pause, .slow, .refuseConnection, .stopListening, .failHandshake, .withholdTickets, .latency, .mute,
            .settings, .grant, .flood, .unknownFrame, .ignorePings:
            false
        }
    }
}

/// What a rule of a script makes the gateway do.
enum FaultAction: Hashable, Sendable {
    /// Answers with six bytes, or something like them, and discards everything that comes behind.
    case reply(Reply)
    /// Ends the connection without a word.
    case end(Ending, delay: Duration)
    /// Stops reading; `nil` is for ever.
    case pause(Duration?)
    /// Reads no more than so many bytes a second from now on.
    case slow(bytesPerSecond: Int)
    /// Resets a connection as soon as it is accepted.
    case refuseConnection
    /// Closes the listening socket for a while, so that connects are refused.
    case stopListening(Duration)
    /// Spoils the TLS handshake.
    case failHandshake(HandshakeFault)
    /// Sends no session ticket, so that a TLS 1.3 client hears nothing after its handshake.
    case withholdTickets
    /// Answers a request over HTTP/2 with a status and a reason.
    case answer(Answer)
    /// Answers later from now on, by a delay that varies.
    case latency(Duration, jitter: Duration)
    /// Accepts a request and never answers it.
    case withhold
    /// Reads on, but does and answers nothing from now on, not even a PING.
    case mute
    /// Announces the end of the connection and leaves the newest requests undone.
    case goAway(GoAway)
    /// Gives a request's stream up, undone.
    case refuseStream(code: UInt32)
    /// Changes the settings.
    case settings(ChangedSettings)
    /// Opens the connection's window again only when so many bytes of bodies have come; 0: never.
    case grant(byteCount: Int)
    /// Sends many frames that say nothing.
    case flood(Flood, count: Int)
    /// Sends a frame of a type that nobody knows.
    case unknownFrame
    /// Leaves the client's PINGs unanswered from now on.
    case ignorePings
    /// Sends an informational answer first.
    case inform(status: Int)

    /// How a connection ends.
    enum Ending: String, Hashable, Sendable, CaseIterable {
        /// close_notify, then FIN.
        case close
        /// FIN without close_notify.
        case cut
        /// RST.
        case reset
        /// Not at all: it stays open and everything is discarded.
        case stay
    }

    /// How a handshake is spoilt.
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
        /// Which notification the answer names.
        enum Naming: Hashable, Sendable {
            /// The refused one, or 0 if it has no identifier.
            case refused
            /// The last one that was accepted on the connection, or 0.
            case lastAccepted
            /// This number, whatever it stands for.
            case number(UInt32)
        }

        var status: UInt8
        var naming = Naming.refused
        /// How long the answer takes; what arrives meanwhile is read and discarded.
        var delay = Duration.zero
        /// The first byte; 8 is the right one.
        var command: UInt8 = 8
        /// How many of the six bytes are sent.
        var byteCount = 6
        /// What follows.
        var ending = Ending.close
    }

    /// When a rule with this action looks whether it fits.
    enum Occasion: Hashable, Sendable {
        case connecting, betweenNotifications, notification
    }

    /// Whether the action is about a connection that is not open yet.
    var belongsToConnecting: Bool {
        switch self {
        case .refuseConnection, .failHandshake, .withholdTickets: true
        case .reply, .end, .pause, .slow, .stopListening: false
        case .answer, .latency, .withhold, .mute, .goAway, .refuseStream, .settings, .grant, .flood, .unknownFrame,
            .ignorePings, .inform:
            false
        }
    }

    /// Whether the action answers a notification, so that it has to wait for one.
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

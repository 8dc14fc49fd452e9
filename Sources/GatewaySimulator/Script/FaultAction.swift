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
        }
    }

    /// Whether the action answers a notification, so that it has to wait for one.
    var answersNotification: Bool {
        if case .reply(let reply) = self { reply.naming != .lastAccepted } else { false }
    }
}

import HTTP2
import NGHTTP2
import PushModel

extension HTTP2Policy {
    /// The progress of an announced shutdown of a connection.
    enum Leaving {
        case no
        /// The notice with the last stream 2^31 - 1 has been sent.
        case noticed(FaultAction.GoAway, due: Moment)
        /// Requests above a stream are left unprocessed; `missing` more of them are expected.
        case collecting(FaultAction.GoAway, above: UInt32, missing: Int, due: Moment)
        /// The final GOAWAY has been sent.
        case left(above: UInt32, FaultAction.Ending)

        /// The moment at which it continues without an event.
        var due: Moment? {
            switch self {
            case .no, .left: nil
            case .noticed(_, let due), .collecting(_, _, _, let due): due
            }
        }

        /// Whether the connection stays open after the final GOAWAY.
        var stays: Bool {
            if case .left(_, .stay) = self { true } else { false }
        }
    }

    /// The time to wait for requests that are to be left unprocessed.
    private static let patience = Duration.milliseconds(100)

    /// Begins to shut the connection down.
    mutating func leave(_ goAway: FaultAction.GoAway, from subject: Subject?, at now: Moment) -> Ledger.Outcome? {
        guard case .no = leaving else { return nil }
        if let notice = goAway.notice {
            session.noticeShutdown()
            leaving = .noticed(goAway, due: now + notice)
            return nil
        }
        guard goAway.undoneCount > 0, let subject else {
            finish(goAway, above: session.lastStream, at: now)
            return nil
        }
        let last = subject.stream >= 2 ? subject.stream - 2 : 0
        leaving = .collecting(goAway, above: last, missing: goAway.undoneCount, due: now + Self.patience)
        return collects(subject.stream, at: now) ? .discarded : nil
    }

    /// Whether a request is one of those left unprocessed.
    mutating func collects(_ stream: UInt32, at now: Moment) -> Bool {
        switch leaving {
        case .no, .noticed: return false
        case .left(let last, _): return stream > last
        case .collecting(let goAway, let last, let missing, let due):
            guard stream > last else { return false }
            leaving = .collecting(goAway, above: last, missing: missing - 1, due: due)
            if missing == 1 { finish(goAway, above: last, at: now) }
            return true
        }
    }

    /// Continues the shutdown as time passes and streams end.
    mutating func leave(at now: Moment) {
        switch leaving {
        case .no: return
        case .noticed(let goAway, let due):
            guard now >= due else { return }
            if goAway.undoneCount == 0 { return finish(goAway, above: session.lastStream, at: now) }
            leaving = .collecting(
                goAway, above: session.lastStream, missing: goAway.undoneCount, due: now + Self.patience)
        case .collecting(let goAway, let last, _, let due):
            if now >= due { finish(goAway, above: last, at: now) }
        case .left(_, .close):
            if case .open = state, session.openStreamCount == 0 { state = .doomed(.close, due: now) }
        case .left: return
        }
    }

    private mutating func finish(_ goAway: FaultAction.GoAway, above last: UInt32, at now: Moment) {
        leaving = .left(above: last, goAway.ending)
        session.goAway(
            lastStream: last, ErrorCode(rawValue: goAway.code), debug: goAway.debug ?? Array(api.goAwayDebug.utf8))
        switch goAway.ending {
        case .close, .stay: break
        case .cut, .reset: state = .doomed(goAway.ending, due: now)
        }
    }
}

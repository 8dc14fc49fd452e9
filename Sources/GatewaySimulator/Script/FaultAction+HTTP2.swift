import FCMServing

extension FaultAction {
    /// The ports on which the action can be carried out.
    var ports: Set<Port> {
        switch self {
        case .reply: [.binary]
        case .end, .pause, .slow, .refuseConnection, .stopListening, .failHandshake, .withholdTickets:
            Set(Port.allCases)
        case .answer, .latency, .withhold, .mute, .goAway, .refuseStream, .settings, .grant, .flood, .unknownFrame,
            .ignorePings, .inform:
            Set(Port.allCases).subtracting([.binary])
        }
    }

    /// An answer to a request.
    struct Answer: Hashable, Sendable {
        /// The status; `nil` means that of the reason.
        var status: Int?
        /// The reason in the body. An empty one means no body; `nil` means `Unregistered` unless `status` is set.
        var reason: String?
        /// The complete body to send instead, like that of a server other than a gateway.
        var text: String?
        /// The time since which the token has been invalid, in milliseconds since 1970; `nil` means the time of the answer.
        var timestamp: Int64?
        /// What the quota is for that an answer of FCM's names; `nil` means that none is used up.
        var quota: GoogleError.Quota?
        /// The value of the field `retry-after`, in seconds.
        var retryAfter: Int?
        var delay = Duration.zero
    }

    /// An announced end of a connection.
    struct GoAway: Hashable, Sendable {
        /// The number of requests, starting with the current one, that are left unprocessed.
        var undoneCount = 0
        var code: UInt32 = 0
        /// The debug data of the frame; `nil` means that of the API.
        var debug: [UInt8]?
        /// The time between a notice with the last stream 2^31 - 1 and the frame itself; `nil` means no notice.
        var notice: Duration?
        /// The action that follows: `close` once all remaining requests are answered, the others immediately.
        var ending = Ending.close
    }

    /// The values of a SETTINGS frame; `nil` ones are omitted.
    struct ChangedSettings: Hashable, Sendable {
        var streams: UInt32?
        var window: UInt32?
        var table: UInt32?
        var frame: UInt32?
        var list: UInt32?
    }

    /// The frames of a flood.
    enum Flood: String, Hashable, Sendable, CaseIterable {
        /// SETTINGS without parameters, each of which requires an acknowledgement.
        case settings
        /// PING, each of which requires an answer.
        case ping
        /// CONTINUATION frames of an answer's head that never ends.
        case continuation
        /// RST_STREAM of closed streams.
        case rst
        /// WINDOW_UPDATE by one byte.
        case window
    }
}

extension FaultAction {
    /// Returns the action with one of its options set, for actions of HTTP/2.
    func withHTTP2(_ word: ScriptWord, for action: String) throws(FaultScript.Fault) -> FaultAction {
        switch (self, word.name) {
        case (.answer(let answer), _): return .answer(try answer.with(word, for: action))
        case (.goAway(let goAway), _): return .goAway(try goAway.with(word, for: action))
        case (.settings(let settings), _): return .settings(try settings.with(word, for: action))
        case (.latency(_, let jitter), "delay"): return .latency(try word.duration(), jitter: jitter)
        case (.latency(let delay, _), "jitter"): return .latency(delay, jitter: try word.duration())
        case (.refuseStream, "code"): return .refuseStream(code: try word.integer(in: 0...UInt32.max))
        case (.grant, "grant"): return .grant(byteCount: try word.integer(in: 0...Int(Int32.max)))
        case (.flood(_, let count), "of"): return .flood(try word.choice(of: Flood.self), count: count)
        case (.flood(let flood, _), "count"): return .flood(flood, count: try word.integer(in: 1...10_000_000))
        case (.inform, "status"): return .inform(status: try word.integer(in: 100...199))
        default: throw word.isNoOption(of: action)
        }
    }
}

extension FaultAction.Answer {
    fileprivate func with(_ word: ScriptWord, for action: String) throws(FaultScript.Fault) -> Self {
        var answer = self
        switch word.name {
        case "status": answer.status = try word.integer(in: 200...999)
        case "reason": answer.reason = word.value ?? ""
        case "text": answer.text = word.value ?? ""
        case "timestamp": answer.timestamp = try word.integer(in: 0...Int64.max)
        case "retry-after": answer.retryAfter = try word.integer(in: 0...Int(Int32.max))
        case "quota": answer.quota = try word.choice(of: GoogleError.Quota.self)
        case "delay": answer.delay = try word.duration()
        default: throw word.isNoOption(of: action)
        }
        return answer
    }
}

extension FaultAction.GoAway {
    fileprivate func with(_ word: ScriptWord, for action: String) throws(FaultScript.Fault) -> Self {
        var goAway = self
        switch word.name {
        case "undone": goAway.undoneCount = try word.integer(in: 0...100_000)
        case "code": goAway.code = try word.integer(in: 0...UInt32.max)
        case "reason": goAway.debug = Array("{\"reason\":\"\(try word.nonEmpty())\"}".utf8)
        case "text": goAway.debug = Array((word.value ?? "").utf8)
        case "notice": goAway.notice = try word.duration()
        case "then": goAway.ending = try word.choice(of: FaultAction.Ending.self)
        default: throw word.isNoOption(of: action)
        }
        return goAway
    }
}

extension FaultAction.ChangedSettings {
    fileprivate func with(_ word: ScriptWord, for action: String) throws(FaultScript.Fault) -> Self {
        var settings = self
        switch word.name {
        case "streams": settings.streams = try word.integer(in: 0...UInt32.max)
        case "window": settings.window = try word.integer(in: 0...UInt32(Int32.max))
        case "table": settings.table = try word.integer(in: 0...65_536)
        case "frame": settings.frame = try word.integer(in: 16_384...16_777_215)
        case "list": settings.list = try word.integer(in: 0...UInt32.max)
        default: throw word.isNoOption(of: action)
        }
        return settings
    }
}

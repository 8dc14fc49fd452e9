/// Builds a rule from its words.
struct RuleReader {
    private var rule: FaultRule
    private var options: [ScriptWord] = []
    private let actionWord: ScriptWord

    private static let conditions = [
        "every", "nth", "per", "port", "token", "address", "payload", "after", "connection", "times", "probability",
        "seed",
    ]

    /// Parses one rule.
    ///
    /// - Throws: `FaultScript.Fault`.
    static func rule(from words: ArraySlice<ScriptWord>) throws(FaultScript.Fault) -> FaultRule {
        var reader = try RuleReader(words)
        for word in words { try reader.read(word) }
        return try reader.finished()
    }

    private init(_ words: ArraySlice<ScriptWord>) throws(FaultScript.Fault) {
        let actions = words.filter { $0.value == nil }
        if let condition = actions.first(where: { Self.conditions.contains($0.name) }) { _ = try condition.nonEmpty() }
        guard let word = actions.first else {
            throw words[words.startIndex]
                .fault("the rule has no action", hint: "add an action: \(ActionKind.list)")
        }
        if actions.count > 1 {
            throw actions[1].fault(
                "a second action: \(actions[1].name)", hint: "write one rule for each action, on lines of their own")
        }
        guard let kind = ActionKind(rawValue: word.name) else {
            throw word.fault("unknown action: \(word.name)", hint: "write one of \(ActionKind.list)")
        }
        actionWord = word
        rule = FaultRule(action: kind.action)
        if kind == .closeAfterHandshake { rule.trigger.after = 0 }
    }

    private mutating func read(_ word: ScriptWord) throws(FaultScript.Fault) {
        guard word.value != nil else { return }
        if Self.conditions.contains(word.name) {
            try readCondition(word)
        } else {
            rule.action = try rule.action.with(word, for: actionWord.name)
        }
    }

    private mutating func readCondition(_ word: ScriptWord) throws(FaultScript.Fault) {
        switch word.name {
        case "every": rule.trigger.every = try word.integer(in: 1...Int.max)
        case "nth": rule.trigger.nth = try word.integer(in: 1...Int.max)
        case "per": rule.trigger.countsPerConnection = try word.choice(of: Scope.self) == .connection
        case "port": rule.trigger.port = try word.choice(of: Port.self)
        case "address": rule.trigger.addressText = Array(try word.nonEmpty().utf8)
        case "token": rule.trigger.tokenDigits = try word.digits()
        case "payload": rule.trigger.payloadText = Array(try word.nonEmpty().utf8)
        case "after": rule.trigger.after = try word.integer(in: 0...Int.max)
        case "connection": rule.trigger.connections = try word.range()
        case "times": rule.trigger.times = try word.integer(in: 1...Int.max)
        case "probability": rule.trigger.probability = try word.probability()
        default: rule.trigger.seed = try word.integer(in: 0...UInt64.max)
        }
    }

    private func finished() throws(FaultScript.Fault) -> FaultRule {
        let trigger = rule.trigger
        if rule.action.belongsToConnecting,
            trigger.tokenDigits != nil || trigger.addressText != nil || trigger.payloadText != nil
                || trigger.after != nil
        {
            throw actionWord.fault(
                "\(actionWord.name) happens before any notification arrives",
                hint: "use connection, nth, every, times or probability, which then count connections")
        }
        if let port = trigger.port, !rule.action.ports.contains(port) {
            let others = Port.allCases.filter(rule.action.ports.contains).map(\.rawValue).joined(separator: ", ")
            throw actionWord.fault(
                "\(actionWord.name) is not possible with port=\(port.rawValue)", hint: "use port=\(others)")
        }
        return rule
    }

    private enum Scope: String, CaseIterable {
        case run, connection
    }
}

/// The words that name actions.
private enum ActionKind: String, CaseIterable {
    case refuse, half, junk, shutdown, close, cut, reset, stall, slow, blackhole
    case refuseConnection = "refuse-connection"
    case stopListening = "stop-listening"
    case failHandshake = "fail-handshake"
    case closeAfterHandshake = "close-after-handshake"
    case noTickets = "no-tickets"
    case answer, latency, withhold, mute, goaway, settings, windows, flood, inform
    case refuseStream = "refuse-stream"
    case unknownFrame = "unknown-frame"
    case noPong = "no-pong"

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// The action with its default options.
    var action: FaultAction {
        switch self {
        case .refuse: .reply(.init(status: 8))
        case .half: .reply(.init(status: 8, byteCount: 3))
        case .junk: .reply(.init(status: 8, command: 9))
        case .shutdown: .reply(.init(status: 10, naming: .lastAccepted))
        case .close, .closeAfterHandshake: .end(.close, delay: .zero)
        case .cut: .end(.cut, delay: .zero)
        case .reset: .end(.reset, delay: .zero)
        case .stall: .pause(.seconds(5))
        case .slow: .slow(bytesPerSecond: 1000)
        case .blackhole: .pause(nil)
        case .refuseConnection: .refuseConnection
        case .stopListening: .stopListening(.seconds(5))
        case .failHandshake: .failHandshake(.close)
        case .noTickets: .withholdTickets
        case .answer: .answer(.init())
        case .latency: .latency(.milliseconds(50), jitter: .zero)
        case .withhold: .withhold
        case .mute: .mute
        case .goaway: .goAway(.init())
        case .settings: .settings(.init())
        case .windows: .grant(byteCount: 0)
        case .flood: .flood(.settings, count: 10_000)
        case .inform: .inform(status: 103)
        case .refuseStream: .refuseStream(code: 7)
        case .unknownFrame: .unknownFrame
        case .noPong: .ignorePings
        }
    }
}

extension FaultAction {
    /// Returns the action with one of its options set.
    fileprivate func with(_ word: ScriptWord, for action: String) throws(FaultScript.Fault) -> FaultAction {
        switch (self, word.name) {
        case (.reply(let reply), _): return .reply(try reply.with(word, for: action))
        case (.end(let ending, _), "delay"): return .end(ending, delay: try word.duration())
        case (.pause(.some), "for"): return .pause(try word.duration())
        case (.slow, "rate"): return .slow(bytesPerSecond: try word.integer(in: 1...Int.max))
        case (.stopListening, "for"): return .stopListening(try word.duration())
        case (.failHandshake, "by"): return .failHandshake(try word.choice(of: HandshakeFault.self))
        default: return try withHTTP2(word, for: action)
        }
    }
}

extension FaultAction.Reply {
    fileprivate func with(_ word: ScriptWord, for action: String) throws(FaultScript.Fault) -> Self {
        var reply = self
        switch word.name {
        case "status" where action != "shutdown":
            reply.status = try word.integer(in: 0...UInt8.max)
        case "identifier": reply.naming = try word.naming()
        case "delay": reply.delay = try word.duration()
        case "then": reply.ending = try word.choice(of: FaultAction.Ending.self)
        case "bytes" where action == "half": reply.byteCount = try word.integer(in: 1...5)
        case "command" where action == "junk": reply.command = try word.integer(in: 0...UInt8.max)
        default: throw word.isNoOption(of: action)
        }
        return reply
    }
}

extension ScriptWord {
    /// Returns the fault of a word that the action does not support.
    func isNoOption(of action: String) -> FaultScript.Fault {
        let options: String? =
            switch action {
            case "refuse": "status, identifier, delay, then"
            case "half": "bytes, status, identifier, delay, then"
            case "junk": "command, status, identifier, delay, then"
            case "shutdown": "identifier, delay, then"
            case "close", "cut", "reset", "close-after-handshake": "delay"
            case "stall", "stop-listening": "for"
            case "slow": "rate"
            case "fail-handshake": "by"
            case "answer": "status, reason, text, timestamp, quota, retry-after, delay"
            case "latency": "delay, jitter"
            case "goaway": "undone, code, reason, text, notice, then"
            case "refuse-stream": "code"
            case "settings": "streams, window, table, frame, list"
            case "windows": "grant"
            case "flood": "of, count"
            case "inform": "status"
            default: nil
            }
        return fault(
            "\(name) is neither a condition nor an option of \(action)",
            hint: options.map { "options of \(action): \($0)" } ?? "\(action) has no options")
    }
}

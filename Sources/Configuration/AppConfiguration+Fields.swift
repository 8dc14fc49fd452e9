import APNSModel
package import Document
import Gateways
import LinuxIO
package import PushModel

extension AppConfiguration {
    private static let hour = Duration.seconds(3600)
    private static let day = Duration.seconds(86_400)

    /// Reads `apps/<name>.yaml`. Reports faults; a faulty field keeps its default.
    package init(name: String, _ document: Node, report: inout Report) {
        self.init(name: name)
        var fields = Fields(document, report: report)
        read(&fields)
        report = fields.finish()
    }

    /// Reads the keys.
    mutating func read(_ fields: inout Fields) {
        readProtocol(&fields)
        topic = fields.string("topic")
        if fields.require("credentials", hint: AppCredentials.hint(for: wire.name)) {
            fields.mapping("credentials") { credentials.read(&$0, for: wire.name) }
        }
        if let topic { fields.check(topic: topic) }
        if case .token = credentials.identity, topic == nil {
            fields.warn(
                "topic", "is missing, and a provider token has none: jobs without a topic are refused",
                hint: "write topic: with the app's bundle identifier")
        }
        let standard = wire.standardAddress
        let address = fields.address("gateway", defaultPort: standard.port) ?? standard
        endpoint = Endpoint(address, serverName: fields.host("server_name"))
        trust = fields.file("trust")
        connections = fields.integer("connections", in: fcm == nil ? 1...100 : FCM.connectionRange, or: connections)
        maxAge = fields.duration("max_age", in: .seconds(1)...Self.day * 365)
        let named = fields.rate("rate")
        // Null removes a default.
        rate = fields.node["rate"]?.isNull == true ? nil : named ?? rate
        onDoubt = fields.choice("on_doubt", of: OnDoubt.self, or: onDoubt)
        hook = fields.hook("hook")
        suppress = fields.boolean("suppress", or: suppress)
        fields.mapping("timeouts") { readTimeouts(&$0) }
        readWire(&fields)
        refuseKeysOfOthers(&fields)
    }

    /// Reads the protocol, and takes its defaults.
    private mutating func readProtocol(_ fields: inout Fields) {
        fields.require(
            "protocol", hint: "write protocol: http2 for APNs, fcm for FCM, or binary for a compatible gateway")
        let name = fields.choice("protocol", of: Wire.Name.self) ?? .http2
        if name != .fcm {
            fields.require("environment", hint: "write environment: sandbox or environment: production")
        }
        let environment = fields.choice("environment", of: Environment.self) ?? .sandbox
        switch name {
        case .http2: wire = .http2(HTTP2(environment))
        case .binary: wire = .binary(Binary(environment))
        case .fcm:
            wire = .fcm(FCM())
            (connections, rate, retryCeiling) = (FCM.usualConnections, FCM.usualRate, FCM.usualCeiling)
        }
    }

    /// Reads what not all protocols have. The sections of Apple's other protocol are read too, so that all faults are told.
    private mutating func readWire(_ fields: inout Fields) {
        switch wire {
        case .http2(var http2):
            var other = Binary(http2.environment)
            readApples(&http2, &other, &fields)
            wire = .http2(http2)
        case .binary(var binary):
            var other = HTTP2(binary.environment)
            readApples(&other, &binary, &fields)
            wire = .binary(binary)
        case .fcm(var fcm):
            fcm.read(&fields)
            fields.mapping("retry") { readRetry(&$0, &fcm.requests) }
            wire = .fcm(fcm)
        }
    }

    private mutating func readApples(_ http2: inout HTTP2, _ binary: inout Binary, _ fields: inout Fields) {
        http2.read(&fields, gateway: endpoint)
        fields.mapping("retry") { readRetry(&$0, &http2.requests) }
        fields.mapping("binary") { binary.read(&$0) }
        fields.mapping("feedback_service") { binary.readFeedbackService(&$0) }
    }

    /// The keys that not all protocols have, with the protocols that have them, and what to do about one elsewhere.
    private static let ownKeys: [(key: String, protocols: [Wire.Name], hint: String)] = [
        ("environment", [.http2, .binary], "remove it: FCM has no environments; another project is another app"),
        ("topic", [.http2, .binary], "remove it: an FCM topic is a recipient, which a job names"),
        ("broadcast_gateway", [.http2], "remove it, or write protocol: http2"),
        ("channel_gateway", [.http2], "remove it, or write protocol: http2"),
        ("channels", [.http2], "remove it, or write protocol: http2; FCM has topics instead, which a job names"),
        ("proxy", [.http2, .fcm], "remove it, or write protocol: http2"),
        ("window", [.http2, .fcm], "write it as binary.window"),
        ("binary", [.binary], "remove it"),
        ("feedback_service", [.binary], "remove it: over HTTP/2 the gateway reports unregistered tokens itself"),
        ("project", [.fcm], "remove it, or write protocol: fcm"),
        ("token_gateway", [.fcm], "remove it, or write protocol: fcm"),
        ("unknown_fields", [.fcm], "remove it, or write protocol: fcm"),
    ]

    /// Refuses or warns about keys that the app's protocol does not have.
    private func refuseKeysOfOthers(_ fields: inout Fields) {
        for (key, _, _) in Self.ownKeys { _ = fields.value(key) }
        // If the protocol is missing or unknown, no field can be refused.
        guard let name = fields.value("protocol")?.string.flatMap(Wire.Name.init(rawValue:)) else { return }
        for (key, protocols, hint) in Self.ownKeys where !protocols.contains(name) {
            let isOfOne = protocols.count == 1
            let message = isOfOne ? "is for protocol: \(protocols[0]) only" : "is not for protocol: \(name)"
            fields.forbid(key, message, hint: hint)
        }
        guard name == .binary else { return }
        if fields.value("doubt") != nil {
            fields.warn("doubt", "has no effect with protocol: binary", hint: "remove it")
        }
        for key in ["later", "server_error"] where fields.value("retry")?[key] != nil {
            fields.warn("retry", "`\(key)` has no effect with protocol: binary", hint: "remove it")
        }
    }

    private mutating func readTimeouts(_ fields: inout Fields) {
        timeouts.connect = fields.duration("connect", in: .milliseconds(100)...Self.hour, or: timeouts.connect)
        endpoint.writeTimeout = fields.duration("write", in: .seconds(1)...Self.hour, or: endpoint.writeTimeout)
        timeouts.answer = fields.duration("answer", in: .milliseconds(100)...Self.hour, or: timeouts.answer)
        timeouts.idle = fields.duration("idle_ping", in: .seconds(1)...Self.day, or: timeouts.idle)
        if let timeout = fields.duration("hook", in: .seconds(1)...Self.hour) { hook?.timeout = timeout }
    }

    private mutating func readRetry(_ fields: inout Fields, _ requests: inout Requests) {
        retryCeiling = fields.duration("ceiling", in: .seconds(1)...Self.day, or: retryCeiling)
        requests.readPauses(&fields, ceiling: retryCeiling)
    }
}

extension Fields {
    /// Reports what is wrong with an app's topic.
    fileprivate mutating func check(topic: String) {
        guard let fault = PushTopic.fault(ofAppsOwn: topic) else { return }
        if fault.isWarning {
            warn("topic", fault.message, hint: fault.hint)
        } else {
            refuse("topic", fault.message, hint: fault.hint)
        }
    }

    /// Reads a rate such as `5000/s`.
    package mutating func rate(_ key: String) -> Rate? {
        sketch(key, .text(pattern: "^[0-9]+/[\(Rate.Unit.allCases.map(\.rawValue).joined())]$"))
        guard let value = value(key) else { return nil }
        let parts = (value.scalarText ?? "").split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, let count = Int(parts[0]), let unit = Rate.Unit(rawValue: String(parts[1])),
            let rate = Rate(count, per: unit)
        {
            return rate
        }
        refuse(
            key, "must be 1 to \(Rate.limit) notifications per unit of time",
            hint: "write a whole number, / and one of the units s, m and h, such as 5000/s")
        return nil
    }

    /// A host and port.
    mutating func address(_ key: String, defaultPort: UInt16) -> HostPort? {
        guard let text = string(key) else { return nil }
        if let address = HostPort(text, defaultPort: defaultPort) { return address }
        let form = "write host:port, such as localhost:\(defaultPort) or [::1]:2195"
        refuse(key, "must be host and port", hint: text.contains("://") ? "\(form), without https://" : form)
        return nil
    }

    /// The name or address of a host.
    mutating func host(_ key: String) -> String? {
        guard let text = string(key) else { return nil }
        if HostPort.isHost(text) { return text }
        refuse(
            key, "\(Diagnostic.quoted(text)) is not the name of a host",
            hint: "write the name alone, such as api.push.apple.com; other alphabets in their xn-- form")
        return nil
    }
}

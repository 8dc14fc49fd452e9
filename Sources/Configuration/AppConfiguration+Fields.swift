import APNSGateway
package import APNSModel
package import Document
import LinuxIO
import SecureTransport

extension AppConfiguration {
    private static let hour = Duration.seconds(3600)
    private static let day = Duration.seconds(86_400)

    /// Reads `apps/<name>.yaml`. Reports faults; a faulty field keeps its default.
    package init(name: String, _ document: Node, report: inout Report) {
        self.init(name: name)
        var fields = Fields(document, report: report)
        readProtocol(&fields)
        topic = fields.string("topic")
        readCredentials(&fields)
        if let topic { fields.check(topic: topic) }
        if case .token = identity, topic == nil {
            fields.warn(
                "topic", "is missing, and a provider token has none: jobs without a topic are refused",
                hint: "write topic: with the app's bundle identifier")
        }
        readGateway(&fields)
        connections = fields.integer("connections", in: 1...100) ?? connections
        maxAge = fields.duration("max_age", in: .seconds(1)...Self.day * 365)
        requestWindow = fields.integer("window", in: 1...100_000) ?? requestWindow
        rate = fields.rate("rate")
        onDoubt = fields.choice("on_doubt", of: OnDoubt.self) ?? onDoubt
        fields.mapping("doubt") { doubtLimit = $0.integer("limit", in: 1...100) ?? doubtLimit }
        hook = fields.hook("hook")
        suppress = fields.boolean("suppress") ?? suppress
        fields.mapping("timeouts") { readTimeouts(&$0) }
        fields.mapping("retry") { readRetry(&$0) }
        fields.mapping("binary") { readBinary(&$0) }
        fields.mapping("feedback_service") { readFeedbackService(&$0) }
        refuseOtherProtocol(&fields)
        report = fields.finish()
    }

    private mutating func readProtocol(_ fields: inout Fields) {
        fields.require("protocol", hint: "write protocol: http2, or protocol: binary for a compatible gateway")
        wire = fields.choice("protocol", of: Wire.self) ?? wire
        fields.require("environment", hint: "write environment: sandbox or environment: production")
        environment = fields.choice("environment", of: Environment.self) ?? environment
    }

    /// Refuses or warns about fields that belong only to the other protocol.
    private func refuseOtherProtocol(_ fields: inout Fields) {
        // If the protocol is missing or unknown, no field can be refused.
        guard let word = fields.value("protocol")?.string, let wire = Wire(rawValue: word) else { return }
        switch wire {
        case .http2:
            if fields.value("binary") != nil {
                fields.refuse("binary", "is for protocol: binary only", hint: "remove it")
            }
            if fields.value("feedback_service") != nil {
                fields.refuse(
                    "feedback_service", "is for protocol: binary only",
                    hint: "remove it: over HTTP/2 the gateway reports unregistered tokens itself")
            }
        case .binary:
            for key in ["proxy", "broadcast_gateway", "channel_gateway", "channels"] where fields.value(key) != nil {
                fields.refuse(key, "is for protocol: http2 only", hint: "remove it, or write protocol: http2")
            }
            if fields.value("window") != nil {
                fields.refuse("window", "is for protocol: http2 only", hint: "write it as binary.window")
            }
            if fields.value("doubt") != nil {
                fields.warn("doubt", "has no effect with protocol: binary", hint: "remove it")
            }
            for key in ["later", "server_error"] where fields.value("retry")?[key] != nil {
                fields.warn("retry", "`\(key)` has no effect with protocol: binary", hint: "remove it")
            }
        }
    }

    private mutating func readGateway(_ fields: inout Fields) {
        let standard = Self.standardEndpoint(wire, environment).address
        let address = fields.address("gateway", defaultPort: standard.port) ?? standard
        endpoint = Endpoint(address, serverName: fields.host("server_name"))
        readBroadcasts(&fields)
        trust = fields.file("trust")
        proxy = fields.proxy("proxy")
    }

    private mutating func readTimeouts(_ fields: inout Fields) {
        timeouts.connect = fields.duration("connect", in: .milliseconds(100)...Self.hour) ?? timeouts.connect
        endpoint.writeTimeout = fields.duration("write", in: .seconds(1)...Self.hour) ?? endpoint.writeTimeout
        broadcasts.endpoint.writeTimeout = endpoint.writeTimeout
        broadcasts.channelEndpoint.writeTimeout = endpoint.writeTimeout
        timeouts.answer = fields.duration("answer", in: .milliseconds(100)...Self.hour) ?? timeouts.answer
        timeouts.idle = fields.duration("idle_ping", in: .seconds(1)...Self.day) ?? timeouts.idle
        if let timeout = fields.duration("hook", in: .seconds(1)...Self.hour) { hook?.timeout = timeout }
    }

    private mutating func readRetry(_ fields: inout Fields) {
        retryCeiling = fields.duration("ceiling", in: .seconds(1)...Self.day) ?? retryCeiling
        let (later, serverError) = (
            fields.duration("later", in: .seconds(1)...Self.hour),
            fields.duration("server_error", in: .seconds(1)...Self.day)
        )
        for (key, pause) in [("later", later), ("server_error", serverError)] where pause ?? .zero > retryCeiling {
            fields.refuse(key, "is longer than `ceiling`, \(retryCeiling)", hint: "shorten it, or raise `ceiling`")
        }
        retryLater = min(later ?? retryLater, retryCeiling)
        retryServerError = min(serverError ?? retryServerError, retryCeiling)
    }

    private mutating func readFeedbackService(_ fields: inout Fields) {
        let standard = HostPort(host: "feedback.\(environment.hostInfix)push.apple.com", port: 2196)
        let address = fields.address("gateway", defaultPort: 2196) ?? standard
        var polling = FeedbackPolling(endpoint: Endpoint(address, serverName: fields.host("server_name")))
        polling.every = fields.duration("every", in: .milliseconds(100)...Self.day * 7) ?? polling.every
        feedbackService = polling
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

    /// The URL of a proxy. Messages never quote it, since it may contain a password.
    fileprivate mutating func proxy(_ key: String) -> Proxy? {
        guard let text = string(key) else { return nil }
        do {
            return try Proxy(url: text)
        } catch {
            refuse(key, error.message, hint: error.hint)
            return nil
        }
    }

    /// Reads a rate such as `5000/s`.
    package mutating func rate(_ key: String) -> Rate? {
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

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
        let wireName = readProtocol(&fields)
        topic = fields.string("topic")
        readCredentials(&fields, wireName)
        if let topic { fields.check(topic: topic) }
        if case .token = identity, topic == nil {
            fields.warn(
                "topic", "is missing, and a provider token has none: jobs without a topic are refused",
                hint: "write topic: with the app's bundle identifier")
        }
        let standard = Self.standardEndpoint(wireName, environment).address
        let address = fields.address("gateway", defaultPort: standard.port) ?? standard
        endpoint = Endpoint(address, serverName: fields.host("server_name"))
        trust = fields.file("trust")
        connections = fields.integer("connections", in: 1...100) ?? connections
        maxAge = fields.duration("max_age", in: .seconds(1)...Self.day * 365)
        rate = fields.rate("rate")
        onDoubt = fields.choice("on_doubt", of: OnDoubt.self) ?? onDoubt
        hook = fields.hook("hook")
        suppress = fields.boolean("suppress") ?? suppress
        fields.mapping("timeouts") { readTimeouts(&$0) }
        readWire(wireName, &fields)
        report = fields.finish()
    }

    private mutating func readProtocol(_ fields: inout Fields) -> Wire.Name {
        fields.require("protocol", hint: "write protocol: http2, or protocol: binary for a compatible gateway")
        let wireName = fields.choice("protocol", of: Wire.Name.self) ?? .http2
        fields.require("environment", hint: "write environment: sandbox or environment: production")
        environment = fields.choice("environment", of: Environment.self) ?? environment
        return wireName
    }

    /// Reads what only one of the protocols has, of each, so that all faults are told.
    private mutating func readWire(_ name: Wire.Name, _ fields: inout Fields) {
        var (http2, binary) = (HTTP2(environment), Binary())
        http2.read(&fields, gateway: endpoint, environment)
        fields.mapping("retry") { readRetry(&$0, &http2) }
        fields.mapping("binary") { binary.read(&$0) }
        fields.mapping("feedback_service") { binary.readFeedbackService(&$0, environment) }
        switch name {
        case .http2: wire = .http2(http2)
        case .binary: wire = .binary(binary)
        }
        refuseOtherProtocol(&fields)
    }

    /// Refuses or warns about fields that belong only to the other protocol.
    private func refuseOtherProtocol(_ fields: inout Fields) {
        // If the protocol is missing or unknown, no field can be refused.
        guard let word = fields.value("protocol")?.string, let name = Wire.Name(rawValue: word) else { return }
        switch name {
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

    private mutating func readTimeouts(_ fields: inout Fields) {
        timeouts.connect = fields.duration("connect", in: .milliseconds(100)...Self.hour) ?? timeouts.connect
        endpoint.writeTimeout = fields.duration("write", in: .seconds(1)...Self.hour) ?? endpoint.writeTimeout
        timeouts.answer = fields.duration("answer", in: .milliseconds(100)...Self.hour) ?? timeouts.answer
        timeouts.idle = fields.duration("idle_ping", in: .seconds(1)...Self.day) ?? timeouts.idle
        if let timeout = fields.duration("hook", in: .seconds(1)...Self.hour) { hook?.timeout = timeout }
    }

    private mutating func readRetry(_ fields: inout Fields, _ http2: inout HTTP2) {
        retryCeiling = fields.duration("ceiling", in: .seconds(1)...Self.day) ?? retryCeiling
        let (later, serverError) = (
            fields.duration("later", in: .seconds(1)...Self.hour),
            fields.duration("server_error", in: .seconds(1)...Self.day)
        )
        for (key, pause) in [("later", later), ("server_error", serverError)] where pause ?? .zero > retryCeiling {
            fields.refuse(key, "is longer than `ceiling`, \(retryCeiling)", hint: "shorten it, or raise `ceiling`")
        }
        http2.retryLater = min(later ?? http2.retryLater, retryCeiling)
        http2.retryServerError = min(serverError ?? http2.retryServerError, retryCeiling)
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

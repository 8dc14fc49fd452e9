import APNSBinary
import APNSGateway
import APNSModel
package import Document
import LinuxIO

extension AppConfiguration {
    private enum Wire: String, CaseIterable {
        case http2
        case binary
    }

    private enum Format: String, CaseIterable {
        case frame
        case enhanced
        case simple
    }

    private enum Proof: String, CaseIterable {
        case silence
        case probe
    }

    private static let hour = Duration.seconds(3600)
    private static let day = Duration.seconds(86_400)

    /// Reads `apps/<name>.yaml`. Faults go to the report; what is faulty keeps its default.
    package init(name: String, _ document: Node, report: inout Report) {
        self.init(name: name)
        var fields = Fields(document, report: report)
        readProtocol(&fields)
        topic = fields.string("topic")
        if topic?.isEmpty == true { fields.refuse("topic", "is empty", hint: "set it to the app's bundle identifier") }
        readCredentials(&fields)
        readGateway(&fields)
        connections = fields.integer("connections", in: 1...100) ?? connections
        onDoubt = fields.choice("on_doubt", of: OnDoubt.self) ?? onDoubt
        fields.mapping("timeouts") { readTimeouts(&$0) }
        fields.mapping("retry") {
            _ = $0.duration("later", in: .seconds(1)...Self.hour)
            _ = $0.duration("server_error", in: .seconds(1)...Self.day)
            retryCeiling = $0.duration("ceiling", in: .seconds(1)...Self.day) ?? retryCeiling
        }
        fields.mapping("binary") { readBinary(&$0) }
        fields.mapping("feedback_service") { readFeedbackService(&$0) }
        fields.refuseLater("rate", unless: [])
        fields.refuseLater("suppress", unless: ["false"])
        fields.refuseLater("hook", unless: [])
        fields.refuseLater("proxy", unless: [])
        report = fields.finish()
    }

    private mutating func readProtocol(_ fields: inout Fields) {
        fields.require("protocol", hint: "write protocol: binary")
        if fields.choice("protocol", of: Wire.self) == .http2 {
            fields.refuse(
                "protocol", "http2 is not supported yet", hint: "write protocol: binary, for a compatible gateway")
        }
        fields.require("environment", hint: "write environment: sandbox or environment: production")
        environment = fields.choice("environment", of: Environment.self) ?? environment
    }

    private mutating func readCredentials(_ fields: inout Fields) {
        guard fields.require("credentials", hint: "write credentials: {certificate: push.pem}") else { return }
        fields.mapping("credentials") { inner in
            let certificate = inner.string("certificate").map(Self.source)
            let container = inner.string("pkcs12")
            let key = inner.string("key").map(Self.source)
            passphraseFile = inner.string("passphrase_file")
            if inner.value("token") != nil {
                inner.refuse(
                    "token", "is for HTTP/2 and not supported yet", hint: "the binary protocol takes a certificate")
            } else if let certificate, container == nil {
                identity = .certificate(certificate, key: key)
            } else if let container, certificate == nil {
                identity = .pkcs12(container)
                if key != nil { inner.refuse("key", "is in the PKCS#12 file already", hint: "remove key") }
            } else {
                inner.refuse(
                    "", "needs exactly one of certificate and pkcs12",
                    hint: "write certificate: push.pem or pkcs12: push.p12")
            }
        }
    }

    private static func source(_ text: String) -> Source {
        text.contains("-----BEGIN ") ? .text(Array(text.utf8)) : .file(text)
    }

    private mutating func readGateway(_ fields: inout Fields) {
        let infix = environment == .sandbox ? "sandbox." : ""
        let standard = HostPort(host: "gateway.\(infix)push.apple.com", port: 2195)
        let address = fields.address("gateway", defaultPort: 2195) ?? standard
        endpoint = Endpoint(address, serverName: fields.string("server_name"))
        trust = fields.string("trust")
    }

    private mutating func readTimeouts(_ fields: inout Fields) {
        connectTimeout = fields.duration("connect", in: .milliseconds(100)...Self.hour) ?? connectTimeout
        answerTimeout = fields.duration("answer", in: .milliseconds(100)...Self.hour) ?? answerTimeout
        idlePing = fields.duration("idle_ping", in: .seconds(1)...Self.day) ?? idlePing
    }

    private mutating func readBinary(_ fields: inout Fields) {
        switch fields.choice("format", of: Format.self) {
        case .frame, nil: format = .frame
        case .enhanced: format = .enhanced
        case .simple: format = .simple
        }
        window = fields.integer("window", in: 1...10_000_000) ?? window
        let proof = fields.choice("confirm", of: Proof.self) ?? .silence
        let quiet = fields.duration("confirm_after", in: .milliseconds(100)...Self.hour) ?? .seconds(5)
        confirmation = proof == .probe ? .probe : .silence(quiet)
        if quiet < .seconds(3), proof == .silence {
            fields.warn(
                "confirm_after", "is shorter than gateways have been seen to take for an error",
                hint: "use 3s or more in production")
        }
        if proof == .probe, format == .simple {
            fields.refuse("confirm", "probe needs identifiers, which format: simple has not", hint: "use format: frame")
        }
    }

    private mutating func readFeedbackService(_ fields: inout Fields) {
        let infix = environment == .sandbox ? "sandbox." : ""
        let standard = HostPort(host: "feedback.\(infix)push.apple.com", port: 2196)
        let address = fields.address("gateway", defaultPort: 2196) ?? standard
        feedbackEndpoint = Endpoint(address, serverName: fields.string("server_name"))
        feedbackEvery = fields.duration("every", in: .milliseconds(100)...Self.day * 7) ?? feedbackEvery
    }
}

extension Fields {
    /// A host and port.
    fileprivate mutating func address(_ key: String, defaultPort: UInt16) -> HostPort? {
        guard let text = string(key) else { return nil }
        if let address = HostPort(text, defaultPort: defaultPort) { return address }
        refuse(key, "is no host and port", hint: "write host:port, such as localhost:2195 or [::1]:2195")
        return nil
    }
}

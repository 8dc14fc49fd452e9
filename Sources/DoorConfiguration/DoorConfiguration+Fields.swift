import APNSHTTP2
import Configuration
package import Document
import DoorModel
import LinuxIO
import SpoolModel

extension DoorConfiguration {
    /// Reads `doors.yaml`. Reports faults; a faulty field keeps its default.
    package init(_ document: Node, report: inout Report) {
        self.init()
        var fields = Fields(document, report: report)
        spool = fields.string("spool") ?? spool
        state = fields.string("state") ?? state
        fields.mapping("limits") { readLimits(&$0) }
        fields.mapping("group") {
            groupPause = $0.duration("every", in: .zero...Duration.seconds(1)) ?? groupPause
            groupLimit = $0.integer("requests", in: 1...1024) ?? groupLimit
        }
        readProducers(&fields)
        relay = fields.mapping("apns") { Self.readRelay(&$0) } ?? nil
        fields.mapping("metrics") {
            metricsListen = $0.scalar("listen", expected: "an address") { text throws(TextFault) in
                try MetricsPlace(parsing: text)
            }
        }
        fields.mapping("log") {
            logLevel = $0.choice("level", of: DaemonConfiguration.LogLevel.self) ?? logLevel
            logFormat = $0.choice("format", of: DaemonConfiguration.LogFormat.self) ?? logFormat
        }
        if relay == nil, !fields.report.hasErrors {
            let hint = "add apns: with listen: and certificate:"
            fields.report.add(Diagnostic("no door is configured", hint: hint, at: document.place, severity: .warning))
        }
        report = fields.finish()
    }

    private mutating func readLimits(_ fields: inout Fields) {
        waitingLimit = fields.integer("waiting", in: 1...10_000_000) ?? waitingLimit
        connectionLimit = fields.integer("connections", in: 1...100_000) ?? connectionLimit
        if fields.value("free_space")?.scalarText != "auto" {
            freeSpace = fields.byteCount("free_space", in: 0...1 << 50).map(Int64.init)
        }
    }

    private static func readRelay(_ fields: inout Fields) -> Relay? {
        let address = fields.scalar("listen", expected: "an address") { text throws(TextFault) in
            guard let address = SocketAddress(text) else {
                let message = "\(Diagnostic.quoted(text)) is not an address with a port"
                throw TextFault(message, hint: #"write 127.0.0.1:2197, or "[::]:2197" in quotes for all addresses"#)
            }
            return address
        }
        fields.require("listen", hint: #"write an address and a port, such as "[::]:2197""#)
        fields.require("certificate", hint: "name the PEM file with the relay's certificate")
        let (certificate, key) = (fields.string("certificate"), fields.string("key"))
        let dedupe = fields.duration("dedupe", in: .zero...Duration.seconds(7 * 86_400))
        let answer = fields.choice("answer", of: Answer.self)
        let wait = fields.duration("wait", in: .milliseconds(100)...Duration.seconds(60))
        let gone = fields.duration("gone", in: .zero...Duration.seconds(30 * 86_400))
        guard let address, let certificate else { return nil }
        var relay = Relay(address: address, certificate: certificate, key: key)
        (relay.dedupe, relay.answer) = (dedupe ?? relay.dedupe, answer ?? relay.answer)
        (relay.wait, relay.gone) = (wait ?? relay.wait, gone ?? relay.gone)
        return relay
    }

    // MARK: Producers

    private mutating func readProducers(_ fields: inout Fields) {
        guard let list = fields.value("producers") else {
            fields.require("producers", hint: "name each program that may drop jobs, with its key or certificate")
            return
        }
        var names = Fields(list, path: fields.path(of: "producers"), report: fields.report)
        for member in list.members {
            let name = member.key.text
            let found = names.mapping(name) { Self.readProducer(name, &$0) }
            if let found = found ?? nil { producers.append(found) }
        }
        if list.kind == .mapping, list.count == 0 {
            names.refuse("", "must not be empty", hint: "nobody could use the doors")
        }
        refuseSharedKeys(&names)
        fields.report = names.finish()
    }

    /// Two producers with one key could not be told apart.
    private func refuseSharedKeys(_ fields: inout Fields) {
        var owners: [ProviderIdentity: String] = [:]
        for case (let producer, .key(_, let identity)) in producers {
            if let other = owners[identity] {
                let hint = "give each producer a key of its own"
                fields.refuse(producer.name, "has the key_id and the team_id of \(other)", hint: hint)
            }
            owners[identity] = producer.name
        }
    }

    private static func readProducer(_ name: String, _ fields: inout Fields) -> (producer: Producer, proof: Proof)? {
        var producer = Producer(name: name)
        producer.rate = fields.rate("rate")
        fields.require("apps", hint: #"list the apps that it may use, or write "*" for all"#)
        if fields.value("apps")?.string != "*" { producer.apps = Set(fields.strings("apps") ?? []) }
        for app in producer.apps ?? [] where !AppName.isValid(app) {
            fields.refuse("apps", "\(Diagnostic.quoted(app)) is not a valid app name", hint: "use \(AppName.rule)")
        }
        guard let proof = readProof(&fields) else { return nil }
        return (producer, proof)
    }

    private static func readProof(_ fields: inout Fields) -> Proof? {
        let (key, certificate) = (fields.string("key"), fields.string("certificate"))
        fields.allow("key_id", "team_id")
        switch (key, certificate) {
        case (let file?, nil):
            for name in ["key_id", "team_id"] {
                fields.require(name, hint: "choose ten letters and digits; the client's tokens must name them")
            }
            let (keyID, teamID) = (fields.string("key_id") ?? "", fields.string("team_id") ?? "")
            if let identity = ProviderIdentity(keyID: keyID, teamID: teamID) { return .key(file, of: identity) }
            if !keyID.isEmpty, !teamID.isEmpty {
                let hint = "choose ten letters and digits; the client's tokens must name them"
                let wrong = ProviderIdentity(keyID: keyID, teamID: keyID) == nil ? "key_id" : "team_id"
                fields.refuse(wrong, "must be ten letters and digits", hint: hint)
            }
        case (nil, let file?): return .certificate(file)
        case (nil, nil):
            let hint = "add key: with key_id: and team_id:, or certificate:"
            fields.refuse("", "does not say how the producer proves who it is", hint: hint)
        case (_?, _?): fields.refuse("certificate", "cannot be combined with key", hint: "remove one of them")
        }
        return nil
    }
}

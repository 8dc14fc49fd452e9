import APNSHTTP2
package import Document
import DoorModel
import LinuxIO
import ServiceProcess
import SpoolModel

extension DoorConfiguration {
    /// Reads `doors.yaml`. Reports faults; a faulty field keeps its default.
    package init(_ document: Node, report: inout Report) {
        self.init()
        var fields = Fields(document, report: report)
        read(&fields)
        report = fields.finish()
    }

    /// Reads the keys.
    mutating func read(_ fields: inout Fields) {
        spool = fields.string("spool", or: spool)
        state = fields.string("state", or: state)
        fields.mapping("limits") { readLimits(&$0) }
        fields.mapping("group") {
            groupPause = $0.duration("every", in: .zero...Duration.seconds(1), or: groupPause)
            groupLimit = $0.integer("requests", in: 1...1024, or: groupLimit)
        }
        readProducers(&fields)
        relay = fields.mapping("apns") { Self.readRelay(&$0) } ?? nil
        http = fields.mapping("http") { Self.readPlace(&$0, suchAs: "127.0.0.1:8088") } ?? nil
        xmlrpc = fields.mapping("xmlrpc") { Self.readXMLRPC(&$0) } ?? nil
        zeromq = fields.mapping("zeromq") { Self.readZeroMQ(&$0) } ?? nil
        metricsListen = fields.metricsPlace()
        fields.readLog(&logLevel, &logFormat)
        requireProof(&fields)
        if !hasDoor, !fields.report.hasErrors {
            let hint = "add apns:, http:, xmlrpc: or zeromq:"
            fields.report.add(
                Diagnostic("no door is configured", hint: hint, at: fields.node.place, severity: .warning))
        }
    }

    private mutating func readLimits(_ fields: inout Fields) {
        waitingLimit = fields.integer("waiting", in: 1...10_000_000, or: waitingLimit)
        requestByteLimit = fields.byteCount("request", in: 1024...1 << 40, or: requestByteLimit)
        connectionLimit = fields.integer("connections", in: 1...100_000, or: connectionLimit)
        if !fields.has("auto", for: "free_space") {
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
        let (certificate, key) = (fields.file("certificate"), fields.file("key"))
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

    private static func readPlace(_ fields: inout Fields, suchAs example: String) -> ListenPlace? {
        fields.require("listen", hint: "write an address and a port, such as \(example)")
        let isPublic = fields.boolean("public", or: false)
        return fields.scalar("listen", expected: "an address") { text throws(TextFault) in
            try ListenPlace(parsing: text, isPublic: isPublic)
        }
    }

    private static func readXMLRPC(_ fields: inout Fields) -> XMLRPC? {
        let place = readPlace(&fields, suchAs: "127.0.0.1:7077")
        let provision = fields.choice("provision", of: ProvisionMode.self)
        let (apps, producer) = (fields.string("apps"), fields.string("producer"))
        guard let place else { return nil }
        var door = XMLRPC(place: place)
        (door.provision, door.apps) = (provision ?? door.provision, apps ?? door.apps)
        door.producer = producer
        return door
    }

    private static func readZeroMQ(_ fields: inout Fields) -> ZeroMQ? {
        fields.require("bind", hint: "write an endpoint of libzmq, such as tcp://127.0.0.1:12195")
        fields.require("app", hint: "name the app of all requests")
        let endpoint = fields.scalar("bind", expected: "an endpoint") { text throws(TextFault) in
            try Self.checkEndpoint(text)
            return text
        }
        let tokens = fields.choice("tokens", of: CommandReply.TokenFormat.self)
        guard let app = fields.string("app"), let endpoint else { return nil }
        guard AppName.isValid(app) else {
            fields.refuse("app", "\(Diagnostic.quoted(app)) is not a valid app name", hint: "use \(AppName.rule)")
            return nil
        }
        return ZeroMQ(endpoint: endpoint, app: app, tokens: tokens ?? .hexadecimal)
    }

    /// Clients of this protocol do not say who they are.
    private static func checkEndpoint(_ text: String) throws(TextFault) {
        if text.hasPrefix("ipc:///") { return }
        let form = "write tcp://127.0.0.1:12195, or ipc:// and an absolute path"
        guard text.hasPrefix("tcp://"), let address = SocketAddress(String(text.dropFirst(6))) else {
            throw TextFault("\(Diagnostic.quoted(text)) is not an endpoint", hint: form)
        }
        guard address.isLoopback else {
            throw TextFault(
                "\(address.host) is not a loopback address, and clients of this protocol do not say who they are",
                hint: "\(form); from other hosts use a tunnel")
        }
    }

    // MARK: Producers

    /// Every door that others than this host's programs can reach must know its clients.
    private func requireProof(_ fields: inout Fields) {
        let hasBearer = producers.contains { if case .bearer = $0.proof { true } else { false } }
        let hint = "add a producer with bearer_file:"
        if http != nil, !hasBearer { fields.refuse("http", "has no producer that could use it", hint: hint) }
        guard let xmlrpc else { return }
        if !xmlrpc.place.isOfThisHost, !hasBearer {
            fields.refuse("xmlrpc", "is open to other hosts, and no producer has a password", hint: hint)
        }
        guard let name = xmlrpc.producer else { return }
        if !xmlrpc.place.isOfThisHost {
            let remedy = "remove it, or listen on a loopback address"
            fields.refuse(
                "xmlrpc.producer", "would let everybody in, since the door is open to other hosts", hint: remedy)
        } else if !producers.contains(where: { $0.producer.name == name }) {
            let near = Nearest.word(to: name, among: producers.map(\.producer.name)).map { "did you mean `\($0)`?" }
            let message = "no producer is called \(Diagnostic.quoted(name))"
            fields.refuse("xmlrpc.producer", message, hint: near ?? "add it to producers:")
        }
    }

    private mutating func readProducers(_ fields: inout Fields) {
        fields.sketch("producers", .map(.object(Fields.sketch { Self.readProducer("", &$0) })))
        guard let list = fields.value("producers") else {
            let isNeeded = fields.value("apns") != nil || fields.value("http") != nil
            let hint = "name each program that may drop jobs, with its key, certificate or bearer token"
            if isNeeded { fields.require("producers", hint: hint) } else { fields.allow("producers") }
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
        if !fields.has("*", for: "apps") { producer.apps = Set(fields.strings("apps") ?? []) }
        for app in producer.apps ?? [] where !AppName.isValid(app) {
            fields.refuse("apps", "\(Diagnostic.quoted(app)) is not a valid app name", hint: "use \(AppName.rule)")
        }
        guard let proof = readProof(&fields) else { return nil }
        return (producer, proof)
    }

    private static func readProof(_ fields: inout Fields) -> Proof? {
        let names = ["key", "certificate", "bearer_file"]
        let proofs = names.compactMap { name in fields.file(name).map { (name, $0) } }
        fields.alternatives(names)
        for name in ["key_id", "team_id"] { fields.sketch(name, .text(pattern: AppCredentials.idPattern)) }
        fields.allow("key_id", "team_id")
        guard let (name, file) = proofs.first else {
            let hint = "add key: with key_id: and team_id:, certificate:, or bearer_file:"
            fields.refuse("", "does not say how the producer proves who it is", hint: hint)
            return nil
        }
        guard proofs.count == 1 else {
            fields.refuse(proofs[1].0, "cannot be combined with \(name)", hint: "remove one of them")
            return nil
        }
        switch name {
        case "certificate": return .certificate(file)
        case "bearer_file": return .bearer(file)
        default: return readKey(file, &fields)
        }
    }

    private static func readKey(_ file: String, _ fields: inout Fields) -> Proof? {
        let hint = "choose ten letters and digits; the client's tokens must name them"
        for name in ["key_id", "team_id"] { fields.require(name, hint: hint) }
        let (keyID, teamID) = (fields.string("key_id") ?? "", fields.string("team_id") ?? "")
        if let identity = ProviderIdentity(keyID: keyID, teamID: teamID) { return .key(file, of: identity) }
        guard !keyID.isEmpty, !teamID.isEmpty else { return nil }
        let wrong = ProviderIdentity(keyID: keyID, teamID: keyID) == nil ? "key_id" : "team_id"
        fields.refuse(wrong, "must be ten letters and digits", hint: hint)
        return nil
    }
}

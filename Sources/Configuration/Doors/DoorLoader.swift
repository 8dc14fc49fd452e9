package import APNSHTTP2
import Document
import DoorModel
import LinuxIO
package import OpenSSL
package import SpoolModel

/// The whole configuration of the doors, with everything that is wrong with it.
package struct DoorSet: Sendable {
    /// The content of the file.
    package var configuration = DoorConfiguration()
    /// The keys of the producers, by their places; `nil` for those with a certificate.
    package var verifiers: [ES256Verifier?] = []
    /// The places of the producers with a certificate, by the fingerprints of their public keys.
    package var certificateProducers: [[UInt8]: Int] = [:]
    /// The names of the producers with a bearer token, by the token's SHA-256.
    package var bearers: [[UInt8]: String] = [:]
    /// The TLS context of the relay; `nil` if there is no relay.
    package var relayContext: TLSContext?
    /// When the relay's certificate expires, in seconds since 1970.
    package var relayNotAfter: Int64?
    /// Errors and warnings by file.
    package var findings: [ConfigurationSet.Finding] = []

    /// Whether there is any error: the doors must not open.
    package var hasErrors: Bool { findings.contains(where: \.hasErrors) }

    /// Returns the name of the producer whose key a token names, if the token's signature was made with it.
    package var tokenCheck: @Sendable (SignedProviderToken) -> String? {
        var keys: [ProviderIdentity: (name: String, verifier: ES256Verifier)] = [:]
        for (entry, verifier) in zip(configuration.producers, verifiers) {
            guard case .key(_, let identity) = entry.proof, let verifier else { continue }
            keys[identity] = (entry.producer.name, verifier)
        }
        let known = keys
        return { token in
            guard let (name, verifier) = known[token.token.identity],
                verifier.accepts(token.signature, of: token.signingInput.span)
            else { return nil }
            return name
        }
    }
}

/// Reads `doors.yaml` and the files that it names.
package struct DoorLoader: Sendable {
    /// The file.
    package let path: String

    /// Creates a loader.
    package init(path: String) {
        self.path = path
    }

    private var folder: String { FilePlace(path).directory }

    /// Reads only the file itself, and compares it with the daemon's apps, for a user who may not read the doors' keys. Blocks.
    ///
    /// - Parameter apps: The apps of the daemon.
    /// - Returns: The findings; `nil` if there is no such file.
    package func review(against apps: [AppList.App]) -> ConfigurationSet.Finding? {
        guard let place = try? Directory.open(path: folder),
            (try? place.status(of: FilePlace(path).nameBytes)) != nil
        else { return nil }
        var report = Report()
        let configuration = parse(&report)
        var list = AppList(node: "", limits: DocumentLimits())
        list.apps = apps
        let router = AppRouter([list])
        let known = Set(apps.map(\.name))
        for (producer, _) in configuration.producers {
            let key = "producers.\(producer.name).apps"
            for names in router.indistinguishable(for: producer) {
                let message = "\(names.joined(separator: " and ")) have the same topic and environment"
                report.add(Diagnostic(message, hint: "give the producer one of them").about(key))
            }
            for name in (producer.apps ?? []).subtracting(known).sorted() {
                let near = Nearest.word(to: name, among: known.sorted()).map { "did you mean `\($0)`?" }
                let hint = near ?? "write apps/\(name).yaml, or remove it here"
                let message = "no app is called \(Diagnostic.quoted(name))"
                report.add(Diagnostic(message, hint: hint, severity: .warning).about(key))
            }
        }
        if let app = configuration.zeromq?.app, !known.contains(app) {
            let near = Nearest.word(to: app, among: known.sorted()).map { "did you mean `\($0)`?" }
            let message = "no app is called \(Diagnostic.quoted(app))"
            let hint = near ?? "write apps/\(app).yaml"
            report.add(Diagnostic(message, hint: hint, severity: .warning).about("zeromq.app"))
        }
        return ConfigurationSet.Finding(file: path, diagnostics: report.inOrder)
    }

    private func parse(_ report: inout Report) -> DoorConfiguration {
        do throws(Diagnostic) {
            let document = try ConfigurationFile.parse(path, absent: "check the path, or give the file with --config")
            return DoorConfiguration(document, report: &report)
        } catch {
            report.add(error)
            return DoorConfiguration()
        }
    }

    /// Reads everything that can be read. Blocks for the files.
    package func load() -> DoorSet {
        var set = DoorSet()
        var report = Report()
        set.configuration = parse(&report)
        set.configuration.spool = ConfigurationFile.resolve(set.configuration.spool, in: folder)
        set.configuration.state = ConfigurationFile.resolve(set.configuration.state, in: folder)
        if let apps = set.configuration.xmlrpc?.apps {
            set.configuration.xmlrpc?.apps = ConfigurationFile.resolve(apps, in: folder)
        }
        for place in set.configuration.producers.indices { loadProof(of: place, into: &set, &report) }
        if let relay = set.configuration.relay, let (context, notAfter) = context(of: relay, &report) {
            (set.relayContext, set.relayNotAfter) = (context, notAfter)
        }
        if !report.diagnostics.isEmpty { set.findings = [.init(file: path, diagnostics: report.inOrder)] }
        return set
    }

    // MARK: Files

    private func loadProof(of place: Int, into set: inout DoorSet, _ report: inout Report) {
        let (producer, proof) = set.configuration.producers[place]
        set.verifiers.append(nil)
        do throws(Diagnostic) {
            switch proof {
            case .key(let file, _):
                set.verifiers[place] = try verifier(file, producer, &report)
            case .certificate(let file):
                let text = try read(file, isSecret: false)
                let facts = try checking { () throws(TLSError) in try CertificateFacts.first(inPEM: text) }
                guard let fingerprint = facts?.publicKeyFingerprint else {
                    throw Diagnostic(
                        "\(file) has no certificate", hint: "name a PEM file with the client's certificate")
                }
                try note(fingerprint, of: place, in: &set)
            case .bearer(let file):
                var text = try read(file, isSecret: true)
                defer { Secret.erase(&text) }
                try noteBearer(text, file, of: producer.name, in: &set)
            }
        } catch {
            report.add(error.about("producers.\(producer.name)"))
        }
    }

    /// Reads the producer's key: its public half is enough, and all that should be there.
    private func verifier(
        _ file: String, _ producer: Producer, _ report: inout Report
    ) throws(Diagnostic) -> ES256Verifier {
        var text = try read(file, isSecret: false)
        defer { Secret.erase(&text) }
        guard String(decoding: text, as: UTF8.self).contains("PRIVATE KEY") else {
            return try checking { () throws(TLSError) in try ES256Verifier(publicKey: text) }
        }
        let message = "\(file) has the private key, with which anybody can be this producer"
        let hint = "keep it with the producer only, and here: openssl ec -in \(file) -pubout"
        let path = "producers.\(producer.name).key"
        report.add(Diagnostic(message, hint: hint, severity: .warning).about(path))
        return try checking { () throws(TLSError) in
            try ES256Verifier(publicKey: try ES256Signer(p8: text).publicKeyPEM())
        }
    }

    private func note(_ fingerprint: [UInt8], of place: Int, in set: inout DoorSet) throws(Diagnostic) {
        guard let other = set.certificateProducers.updateValue(place, forKey: fingerprint) else { return }
        let name = set.configuration.producers[other].producer.name
        throw Diagnostic("has the public key of \(name)", hint: "give each producer a certificate of its own")
    }

    /// A bearer token (RFC 6750 §2.1) of fewer than 16 characters could be guessed.
    private func noteBearer(
        _ text: [UInt8], _ file: String, of producer: String, in set: inout DoorSet
    ) throws(Diagnostic) {
        let token = BearerText.trimmed(text)
        guard token.count >= 16, BearerText.isValid(token) else {
            let message = "\(file) must have 16 or more letters, digits and -._~+/ in one line"
            throw Diagnostic(message, hint: "make one: openssl rand -hex 32")
        }
        guard let other = set.bearers.updateValue(producer, forKey: Digest.sha256(token.span)) else { return }
        throw Diagnostic("has the bearer token of \(other)", hint: "give each producer a token of its own")
    }

    private func context(of relay: DoorConfiguration.Relay, _ report: inout Report) -> (TLSContext, Int64)? {
        do throws(Diagnostic) {
            var certificate = try read(relay.certificate, isSecret: relay.key == nil)
            var key: [UInt8] = []
            defer {
                Secret.erase(&certificate)
                Secret.erase(&key)
            }
            if let file = relay.key { key = try read(file, isSecret: true) }
            let identity = try checking { () throws(TLSError) in
                try Credentials.pem(certificate: certificate, key: relay.key == nil ? nil : key)
            }
            guard identity.facts.isValid(at: WallClock.nanoseconds() / 1_000_000_000) else {
                let message = "the certificate \(relay.certificate) is not valid now"
                throw Diagnostic(message, hint: "replace it; clients would refuse it")
            }
            let context = try checking { () throws(TLSError) in
                var options = TLSOptions(applicationProtocols: ["h2"])
                options.asksForCertificate = true
                return try TLSContext.server(identity: identity, options: options)
            }
            return (context, identity.facts.notAfter)
        } catch {
            report.add(error.about("apns"))
            return nil
        }
    }

    private func read(_ file: String, isSecret: Bool) throws(Diagnostic) -> [UInt8] {
        do throws(Diagnostic) {
            return try ConfigurationFile.readCredential(file, in: folder, isSecret: isSecret)
        } catch {
            // A door must not open without one of its credentials.
            var fault = error
            fault.severity = .error
            throw fault
        }
    }

    private func checking<Value>(_ body: () throws(TLSError) -> Value) throws(Diagnostic) -> Value {
        do throws(TLSError) {
            return try body()
        } catch {
            throw Diagnostic(error.message, hint: error.hint)
        }
    }
}

import APNSHTTP2
import APNSModel
import Document
import FCMHTTP2
import Gateways
import JSON
import LinuxIO
import OpenSSL
import PushModel

/// Reads an app's credentials and checks them before any connection is made.
///
/// The bytes of a secret file are overwritten once the key has been made. A secret written in the app's own file is
/// not, nor are the parser's copies of a service account's file.
struct IdentityLoader: Sendable {
    private let folder: String
    private let now: WallTime
    private let shared: SharedIdentities
    /// The validity period of the certificate, if `load` refused it because it is not valid now.
    private(set) var untimely: CertificateTime?
    /// The digests of all files read, one after the other.
    private var sums: [UInt8] = []

    /// Creates a loader that resolves paths against `folder`.
    init(folder: String, now: WallTime, sharing shared: SharedIdentities) {
        (self.folder, self.now, self.shared) = (folder, now, shared)
    }

    /// Loads the app with its identity. Blocks for the files.
    ///
    /// - Parameters:
    ///   - app: The app's configuration.
    ///   - known: The app as previously loaded, which is returned if nothing has changed.
    /// - Returns: The app, ready to send.
    /// - Throws: `Diagnostic` about the faulty key of the configuration, with a remedy. The app must not send.
    mutating func load(
        _ app: AppConfiguration, knowing known: ConfiguredApp?
    ) throws(Diagnostic) -> ConfiguredApp {
        if let known, known.configuration == app, try isUnchanged(known) { return known }
        sums = []
        return try load(app)
    }

    /// Whether credentials are still valid and their files are unchanged.
    private mutating func isUnchanged(_ known: ConfiguredApp) throws(Diagnostic) -> Bool {
        if case .certificate(let facts) = known.credentials, !facts.isValid(at: now.epochSeconds) { return false }
        for part in parts(of: known.configuration) {
            var content = try bytes(part.source, key: part.key, isSecret: part.isSecret)
            Secret.erase(&content)
        }
        return sums == known.fingerprint
    }

    /// A file or inline text from which an identity is made.
    private struct Part {
        let source: AppCredentials.Source
        /// The configuration key that names it.
        let key: String
        var isSecret = true
    }

    /// The parts of an identity, in the order in which they are read.
    private func parts(of app: AppConfiguration) -> [Part] {
        var parts: [Part] = []
        if case .file(let file) = app.credentials.passphrase {
            parts.append(Part(source: .file(file), key: "credentials.passphrase_file"))
        }
        switch app.credentials.identity {
        case .certificate(let certificate, let key):
            parts.append(Part(source: certificate, key: "credentials.certificate", isSecret: key == nil))
            if let key { parts.append(Part(source: key, key: "credentials.key")) }
        case .pkcs12(let file): parts.append(Part(source: .file(file), key: "credentials.pkcs12"))
        case .token(let key, _): parts.append(Part(source: key, key: "credentials.token.key"))
        case .serviceAccount(let file): parts.append(Part(source: .file(file), key: Self.accountLabel))
        }
        if let file = app.trust { parts.append(Part(source: .file(file), key: "trust", isSecret: false)) }
        return parts
    }

    private mutating func load(_ app: AppConfiguration) throws(Diagnostic) -> ConfiguredApp {
        switch app.credentials.identity {
        case .certificate, .pkcs12: try loadCertificate(app)
        case .token(let source, let identity): try loadToken(app, identity, source)
        case .serviceAccount(let file): try loadServiceAccount(app, file)
        }
    }

    private mutating func loadCertificate(_ app: AppConfiguration) throws(Diagnostic) -> ConfiguredApp {
        let credentials = try credentials(of: app)
        let facts = credentials.facts
        try check(facts, against: app)
        if !facts.isValid(at: now.epochSeconds) { untimely = CertificateTime(facts) }
        try blaming("credentials") { () throws(TLSError) in try credentials.requireValid(at: now.epochSeconds) }
        let context = try context(app, credentials)
        return ConfiguredApp(app, context, .certificate(facts), fingerprint: sums)
    }

    private mutating func loadToken(
        _ app: AppConfiguration, _ identity: ProviderIdentity, _ source: AppCredentials.Source
    ) throws(Diagnostic) -> ConfiguredApp {
        let label = "credentials.token.key"
        var text = try bytes(source, key: label, isSecret: true)
        defer { Secret.erase(&text) }
        let key = try blaming(label) { () throws(TLSError) in try ProviderKey(identity, p8: text) }
        return ConfiguredApp(app, try context(app, nil), .token(shared.key(key)), fingerprint: sums)
    }

    private static let accountLabel = "credentials.service_account"

    private mutating func loadServiceAccount(
        _ app: AppConfiguration, _ file: String
    ) throws(Diagnostic) -> ConfiguredApp {
        var bytes = try read(file, key: Self.accountLabel, isSecret: true)
        defer { Secret.erase(&bytes) }
        var content: ServiceAccountFile
        do throws(Diagnostic) {
            var parser = JSON.Parser()
            let isTokenEndpointNamed = app.fcm?.tokenEndpoint != nil
            content = try ServiceAccountFile(bytes, allowsAnyHost: isTokenEndpointNamed, parser: &parser)
        } catch {
            throw error.about(Self.accountLabel)
        }
        defer { Secret.erase(&content.privateKey) }
        let key = try blaming(Self.accountLabel) { () throws(TLSError) in
            try ServiceAccountKey(content.account, privateKey: content.privateKey)
        }
        return ConfiguredApp(app, try context(app, nil), .serviceAccount(key), fingerprint: sums)
    }

    private mutating func credentials(of app: AppConfiguration) throws(Diagnostic) -> Credentials {
        let passphrase = try passphrase(of: app)
        switch app.credentials.identity {
        case .certificate(let source, let keySource):
            var certificate = try bytes(source, key: "credentials.certificate", isSecret: keySource == nil)
            defer { Secret.erase(&certificate) }
            var key: [UInt8] = []
            defer { Secret.erase(&key) }
            if let keySource { key = try bytes(keySource, key: "credentials.key", isSecret: true) }
            return try blaming("credentials.certificate") { () throws(TLSError) in
                try Credentials.pem(
                    certificate: certificate, key: keySource == nil ? nil : key, passphrase: passphrase)
            }
        case .pkcs12(let file):
            var container = try read(file, key: "credentials.pkcs12", isSecret: true)
            defer { Secret.erase(&container) }
            return try blaming("credentials.pkcs12") { () throws(TLSError) in
                try Credentials.pkcs12(container, passphrase: passphrase)
            }
        case .token, .serviceAccount:
            throw Diagnostic("a key for tokens is not a certificate").about("credentials")
        }
    }

    private mutating func passphrase(of app: AppConfiguration) throws(Diagnostic) -> Secret? {
        var content: [UInt8]
        switch app.credentials.passphrase {
        case .file(let file): content = try read(file, key: "credentials.passphrase_file", isSecret: true)
        case .variable(let variable):
            guard let value = EnvironmentVariable.value(variable) else {
                throw Diagnostic(
                    "the environment variable that it names is not set",
                    hint: "give the variable's name, not the passphrase, and set it in the daemon's environment"
                ).about("credentials.passphrase_env")
            }
            content = Array(value.utf8)
        case nil: return nil
        }
        defer { Secret.erase(&content) }
        return Secret(passphraseFile: content)
    }

    /// Checks that the certificate suits the app's environment and topic. The gateway completes the handshake with a
    /// certificate for the other environment, and then closes the connection without an error.
    private func check(_ facts: CertificateFacts, against app: AppConfiguration) throws(Diagnostic) {
        let isMarked = facts.isForSandbox || facts.isForProduction
        let isRight = app.environment == .sandbox ? facts.isForSandbox : facts.isForProduction
        if isMarked, !isRight, let environment = app.environment {
            let other = environment == .sandbox ? "production" : "sandbox"
            throw Diagnostic(
                "certificate \"\(facts.displayName)\" is only for \(other), but the app is for \(environment)",
                hint: "set environment: \(other), or use a certificate for \(environment)"
            ).about("environment")
        }
        if app.http2 != nil, app.topic == nil, let topic = facts.userID ?? facts.topics.first,
            let fault = PushTopic.fault(ofForm: topic), !fault.isWarning
        {
            let message = "the topic of certificate \"\(facts.displayName)\" \(fault.message)"
            throw Diagnostic(message, hint: "set topic to the app's bundle identifier").about("credentials")
        }
        let topics = facts.allTopics + (facts.userID.map { [$0] } ?? [])
        if let topic = app.topic, !topics.isEmpty, !topics.contains(topic) {
            throw Diagnostic(
                "certificate \"\(facts.displayName)\" is not for topic \(topic)",
                hint: "set topic to one of its topics: \(topics.joined(separator: ", "))"
            ).about("topic")
        }
    }

    private mutating func context(
        _ app: AppConfiguration, _ credentials: Credentials?
    ) throws(Diagnostic) -> TLSContext {
        var trust = TrustSource.system
        if let file = app.trust { trust = .pem(try read(file, key: "trust", isSecret: false)) }
        let options = TLSOptions(applicationProtocols: app.requests != nil ? ["h2"] : [])
        return try blaming("trust") { () throws(TLSError) in
            guard let credentials else { return try shared.context(trust: trust, options: options) }
            return try TLSContext.client(identity: credentials, trust: trust, options: options)
        }
    }

    private mutating func bytes(
        _ source: AppCredentials.Source, key: String, isSecret: Bool
    ) throws(Diagnostic) -> [UInt8] {
        switch source {
        case .text(let bytes): bytes
        case .file(let file): try read(file, key: key, isSecret: isSecret)
        }
    }

    private mutating func read(_ file: String, key: String, isSecret: Bool) throws(Diagnostic) -> [UInt8] {
        do throws(Diagnostic) {
            let bytes = try ConfigurationFile.readCredential(file, in: folder, isSecret: isSecret)
            var digest = Digest()
            digest.update(bytes.span)
            sums += digest.finish()
            return bytes
        } catch {
            throw error.about(key)
        }
    }

    private func blaming<Value>(
        _ key: String, _ body: () throws(TLSError) -> Value
    ) throws(Diagnostic) -> Value {
        do throws(TLSError) {
            return try body()
        } catch {
            throw Diagnostic(error.message, hint: error.hint).about(key)
        }
    }
}

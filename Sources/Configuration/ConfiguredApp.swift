import APNSHTTP2
package import APNSModel
import FCMHTTP2
package import Gateways
package import LinuxIO
package import OpenSSL
import PushHTTP2
package import PushModel
package import SpoolModel

/// An app whose configuration has no errors, with its loaded credentials.
///
/// An object, because the parts of an app share it: with thousands of apps, copies would take megabytes.
package final class ConfiguredApp: Sendable {
    /// The credentials that identify the app to the gateway.
    package enum Credentials: Sendable {
        /// A client certificate with these facts.
        case certificate(CertificateFacts)
        /// A key that signs provider tokens.
        case token(ProviderKey)
        /// A key that signs requests for access tokens.
        case serviceAccount(ServiceAccountKey)
    }

    /// The configuration from the app's file.
    package let configuration: AppConfiguration
    /// The TLS context, with the identity to present and the authorities to trust.
    package let context: TLSContext
    /// The app's credentials.
    package let credentials: Credentials
    /// A digest over all files of the credentials. It changes with the certificate, the key and the trusted authorities.
    package let fingerprint: [UInt8]

    init(
        _ configuration: AppConfiguration, _ context: TLSContext, _ credentials: Credentials, fingerprint: [UInt8]
    ) {
        (self.configuration, self.context) = (configuration, context)
        (self.credentials, self.fingerprint) = (credentials, fingerprint)
    }

    /// The app's name.
    package var name: String { configuration.name }

    /// Whether both have the same content and the same credentials.
    package func isSame(as other: ConfiguredApp) -> Bool {
        self === other || configuration == other.configuration && fingerprint == other.fingerprint
    }

    /// Whether connections of the other may stay: new names of channels concern only jobs to come.
    package func sendsLike(_ other: ConfiguredApp) -> Bool {
        configuration.with(other.configuration.channels) == other.configuration && fingerprint == other.fingerprint
    }

    /// The default topic for jobs that name none, without the suffix of a push type.
    package var topic: String? {
        switch credentials {
        case .certificate(let facts): configuration.topic ?? facts.userID ?? facts.topics.first
        case .token: configuration.topic
        case .serviceAccount: nil
        }
    }

    /// The FCM project that messages are sent in, by its id or number; `nil` with another protocol.
    package var project: String? {
        guard case .serviceAccount(let key) = credentials else { return nil }
        return configuration.fcm?.project ?? key.account.projectID
    }

    /// The app's gateway, protocol and credentials in one line.
    package var summary: String {
        let place = project.map { "project \($0)" } ?? configuration.environment.map { "\($0)" } ?? ""
        var line = "\(place) at \(configuration.endpoint) over \(configuration.wire.name)"
        if let proxy = configuration.requests?.proxy { line += " through the proxy \(proxy)" }
        if let shownTopic { line += ", topic \(shownTopic)" }
        line += ", \(credentialsDescription)"
        if let limit = configuration.binary?.confirmationLimit {
            line += ", at most \(limit) notifications/s per connection (window / confirm_after)"
        }
        return line
    }

    /// The credentials in words: a certificate's name and last day, or the name of a key's owner.
    package var credentialsDescription: String {
        switch credentials {
        case .certificate(let facts):
            "certificate \"\(facts.displayName)\" valid until \(WallTime(epochSeconds: facts.notAfter).day)"
        case .token(let key): "provider token with \(key)"
        case .serviceAccount(let key): "access token of \(key)"
        }
    }

    /// The topic, or where it comes from; `nil` with FCM, whose apps have none.
    private var shownTopic: String? {
        switch credentials {
        case .certificate: topic ?? "from the certificate"
        case .token: topic ?? "set by each job"
        case .serviceAccount: nil
        }
    }

    /// The topics and push types that the credentials allow, for checking jobs; `nil` with FCM, which has neither.
    package var proof: PushTopic.Identity? {
        switch credentials {
        case .token: .providerToken
        case .certificate(let facts): .certificate(topics: facts.allTopics)
        case .serviceAccount: nil
        }
    }

    /// The app in the public list of apps.
    package var listed: AppList.App {
        var app = AppList.App(name: name, carrier: configuration.carrier)
        app.isSandbox = configuration.environment.map { $0 == .sandbox }
        (app.topic, app.identity) = (topic, proof)
        (app.channels, app.onDoubt) = (configuration.channels, configuration.onDoubt)
        app.toleratesUnknownFields = configuration.toleratesUnknownFields
        app.digest = digest
        return app
    }

    /// A digest over what nodes of a cluster should have in common besides the public list: where and how fast to send, and
    /// the credentials. Paths are left out, which may differ between hosts.
    private var digest: String {
        let app = configuration
        let numbers = [app.connections, app.requests?.window ?? 0, app.rate?.count ?? 0, app.suppress ? 1 : 0]
        let text = "\(app.endpoint) \(numbers) \(app.rate?.unit.rawValue ?? "")\(project.map { " \($0)" } ?? "")"
        return digest(with: text)
    }

    /// A digest over what a gateway accepts or refuses: where notifications go, the default topic and the credentials.
    package var identity: String {
        digest(with: "\(configuration.endpoint) \(topic ?? project ?? "") \(credentialsDescription)")
    }

    private func digest(with text: String) -> String {
        Digest.digits(of: Digest.sha256((Array(text.utf8) + fingerprint).span), byteCount: 8)
    }

    /// The feedback service, with the same identity; `nil`: none is polled.
    package var feedbackService: FeedbackService? {
        let app = configuration
        guard let endpoint = app.binary?.feedbackService?.endpoint else { return nil }
        return FeedbackService(endpoint: endpoint, context: context, timeouts: app.timeouts)
    }

    /// Returns a client of the channel management, with the same identity; `nil` if the app has no channels: over another
    /// protocol than Apple's HTTP/2, and without a bundle identifier.
    package func channelService(on reactor: Reactor) -> ChannelService? {
        let app = configuration
        guard let http2 = app.http2, let topic else { return nil }
        var access = ChannelService.Access(endpoint: http2.broadcasts.channelEndpoint, context: context, app: topic)
        if case .token(let key) = credentials { access.key = key }
        (access.proxy, access.timeouts) = (http2.requests.proxy, app.timeouts)
        return ChannelService(access, on: reactor)
    }

    /// Returns a trial of the app's service account; `nil` if it has none.
    package func accountTrial(on reactor: Reactor) -> AccountTrial? {
        guard case .fcm(let fcm) = configuration.wire, case .serviceAccount(let key) = credentials else { return nil }
        let access = AccountTrial.Access(
            configuration.endpoint, tokens: tokenEndpoint(fcm, of: key.account), key: key,
            project: fcm.project ?? key.account.projectID)
        return AccountTrial(access, on: reactor)
    }

    /// Returns the gateway's configuration with the app's identity. Apps with the same key share one source of tokens.
    ///
    /// - Parameters:
    ///   - shared: The sources of tokens, and the mark of the spool; `nil`: it is not sent from one.
    ///   - sockets: Accounts for the descriptors of connections; `nil`: nothing does.
    ///   - mayAct: Whether the owner may still act.
    ///   - acceptedAt: When the gateway last accepted the app's identity, if it is known.
    /// - Returns: The configuration.
    package func gateway(
        _ shared: (tokens: TokenSources, mark: UInt32?), _ sockets: DescriptorShare? = nil, _ mayAct: ActPermit? = nil,
        acceptedAt: Moment? = nil
    ) -> GatewayConfiguration {
        let app = configuration
        var settings = GatewaySettings(endpoint: app.endpoint, context: context)
        (settings.connectionLimit, settings.maxAge) = (app.connections, app.maxAge)
        (settings.rate, settings.timeouts, settings.stopPause) = (app.rate, app.timeouts, app.retryCeiling)
        settings.connectBackOff = .ofConnects(ceiling: app.retryCeiling)
        (settings.sockets, settings.mayAct, settings.acceptedAt) = (sockets, mayAct, acceptedAt)
        return switch app.wire {
        case .binary(let binary): .binary(wire(binary, settings))
        case .http2(let http2): .http2(wire(http2, settings, shared))
        case .fcm(let fcm): .http2(wire(fcm, settings, shared.tokens))
        }
    }

    private func wire(_ binary: AppConfiguration.Binary, _ settings: GatewaySettings) -> BinaryWire.Configuration {
        var gateway = BinaryWire.Configuration(settings, format: binary.format)
        (gateway.window, gateway.confirmation) = (binary.window, binary.confirmation)
        return gateway
    }

    private func wire(
        _ http2: AppConfiguration.HTTP2, _ settings: GatewaySettings, _ shared: (tokens: TokenSources, mark: UInt32?)
    ) -> HTTP2Wire.Configuration {
        var apns = HTTP2Wire.APNS(defaultTopic: topic)
        apns.readsUniqueIDs = http2.environment == .sandbox
        (apns.broadcastEndpoint, apns.spoolMark) = (http2.broadcasts.endpoint, shared.mark)
        var gateway = wire(http2.requests, settings, .apns(apns))
        if case .token(let key) = credentials { gateway.tokenSource = shared.tokens.source(of: key) }
        return gateway
    }

    private func wire(
        _ fcm: AppConfiguration.FCM, _ settings: GatewaySettings, _ tokens: TokenSources
    ) -> HTTP2Wire.Configuration {
        guard case .serviceAccount(let key) = credentials else {
            preconditionFailure("an FCM app is loaded with its service account")
        }
        var gateway = wire(fcm.requests, settings, .fcm(project: fcm.project ?? key.account.projectID))
        gateway.tokenSource = tokens.source(of: key, through: tokenEndpoint(fcm, of: key.account))
        return gateway
    }

    /// How the app gets access tokens: with the authorities, the proxy and the timeouts of its gateway.
    private func tokenEndpoint(
        _ fcm: AppConfiguration.FCM, of account: ServiceAccount
    ) -> TokenEndpoint.Access {
        let address = HostPort(host: account.tokenURI.host, port: account.tokenURI.port)
        var access = TokenEndpoint.Access(endpoint: fcm.tokenEndpoint ?? Endpoint(address), context: context)
        access.endpoint.writeTimeout = configuration.endpoint.writeTimeout
        (access.proxy, access.timeouts) = (fcm.requests.proxy, configuration.timeouts)
        return access
    }

    /// What both services over HTTP/2 are configured with.
    private func wire(
        _ requests: AppConfiguration.Requests, _ settings: GatewaySettings, _ service: HTTP2Wire.Service
    ) -> HTTP2Wire.Configuration {
        let ceiling = configuration.retryCeiling
        var gateway = HTTP2Wire.Configuration(settings, service)
        (gateway.window, gateway.proxy) = (requests.window, requests.proxy)
        // After a 429, the pause for that token never exceeds an hour, even with a longer ceiling.
        gateway.pauses.later = BackOff(first: requests.retryLater, ceiling: min(.seconds(3600), ceiling))
        // Google asks for a least pause, and Apple does not.
        gateway.pauses.serverError = BackOff(
            first: requests.retryServerError, ceiling: ceiling,
            jitter: configuration.http2 == nil ? .lengthens : .shortens)
        gateway.pauses.doubtLimit = requests.doubtLimit
        return gateway
    }
}

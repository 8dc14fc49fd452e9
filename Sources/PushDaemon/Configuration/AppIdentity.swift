package import APNSGateway
package import APNSHTTP2
import APNSModel
package import LinuxIO
package import OpenSSL

/// What an app's configuration and its credential files come to together.
package struct AppIdentity: Sendable {
    /// Who the app is to the gateway.
    package enum Credentials: Sendable {
        /// The bearer of a certificate that says this.
        case certificate(CertificateFacts)
        /// Whoever has a token that this key has signed.
        case token(ProviderKey)
    }

    /// The configuration that all of this was made of.
    package let app: AppConfiguration
    /// Identity to show and authorities to trust in a handshake.
    package let context: TLSContext
    /// Who the app is.
    package let credentials: Credentials
    /// The topic of jobs that name none, without the suffix of a push type.
    package let topic: String?
    /// A sum over all files that it was made of: another one means another certificate, key or authority.
    package let fingerprint: [UInt8]

    /// The credentials in words: a certificate's name and last day, or a key's name and team.
    package var credentialsDescription: String {
        switch credentials {
        case .certificate(let facts):
            "certificate \"\(facts.displayName)\" until \(WallTime(epochSeconds: facts.notAfter).day)"
        case .token(let key): "provider token of \(key)"
        }
    }

    /// What stands for the topic where there is none.
    package var absentTopic: String {
        switch credentials {
        case .certificate: "of the certificate"
        case .token: "named by each job"
        }
    }

    /// What the credentials are good for, for those who read jobs.
    package var proof: PushTopic.Identity {
        switch credentials {
        case .token: .providerToken
        case .certificate(let facts): .certificate(topics: facts.allTopics)
        }
    }

    /// The feedback service, with the same identity; `nil`: not asked.
    package var feedbackService: FeedbackService? {
        guard app.wire == .binary, let endpoint = app.feedbackEndpoint else { return nil }
        return FeedbackService(
            endpoint: endpoint, context: context, connectTimeout: app.connectTimeout, answerTimeout: app.answerTimeout)
    }

    /// How to reach the gateway, and as whom. Apps with the same key get the same source of tokens.
    package func gateway(_ tokens: TokenSources, _ sockets: DescriptorShare) -> GatewayConfiguration {
        switch app.wire {
        case .binary: .binary(binaryGateway(sockets))
        case .http2: .http2(http2Gateway(tokens, sockets))
        }
    }

    private func binaryGateway(_ sockets: DescriptorShare) -> BinaryGateway.Configuration {
        var gateway = BinaryGateway.Configuration(endpoint: app.endpoint, context: context, format: app.format)
        gateway.sockets = sockets
        (gateway.connectionLimit, gateway.maxAge) = (app.connections, app.maxAge)
        gateway.rate = app.rate
        gateway.windowLimit = app.window
        gateway.confirmation = app.confirmation
        gateway.connectTimeout = app.connectTimeout
        gateway.answerTimeout = app.answerTimeout
        gateway.idleLimit = app.idlePing
        gateway.stopPause = app.retryCeiling
        return gateway
    }

    private func http2Gateway(_ tokens: TokenSources, _ sockets: DescriptorShare) -> HTTP2Gateway.Configuration {
        var gateway = HTTP2Gateway.Configuration(endpoint: app.endpoint, context: context)
        gateway.sockets = sockets
        if case .token(let key) = credentials { gateway.tokenSource = tokens.source(of: key) }
        gateway.defaultTopic = topic
        (gateway.connectionLimit, gateway.maxAge) = (app.connections, app.maxAge)
        gateway.window = app.requestWindow
        gateway.rate = app.rate
        gateway.connectTimeout = app.connectTimeout
        gateway.answerTimeout = app.answerTimeout
        gateway.idlePing = app.idlePing
        gateway.proxy = app.proxy
        // The pauses for one token end at an hour, whatever the ceiling.
        gateway.pauses.later = BackOff(first: app.retryLater, ceiling: min(.seconds(3600), app.retryCeiling))
        gateway.pauses.serverError = BackOff(first: app.retryServerError, ceiling: app.retryCeiling)
        gateway.pauses.doubtLimit = app.doubtLimit
        gateway.stopPause = app.retryCeiling
        return gateway
    }
}

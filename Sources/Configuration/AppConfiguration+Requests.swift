import Document
package import SecureTransport

extension AppConfiguration {
    /// How requests over HTTP/2 are made, to Apple's gateway and to Google's.
    package struct Requests: Hashable, Sendable {
        /// The HTTP proxy between the daemon and the gateway.
        package var proxy: Proxy?
        /// The most unanswered requests on a connection, even if the gateway allows more.
        package var window: Int
        /// How many connections may die with a notification unanswered before it waits as after a 5xx status.
        package var doubtLimit = 3
        /// The first pause after the gateway answered 429: for a token, or for an FCM app.
        package var retryLater: Duration
        /// The first pause before a resend after a 5xx status.
        package var retryServerError: Duration

        /// Creates the configuration with the defaults of a gateway.
        init(window: Int, later: Duration, serverError: Duration) {
            (self.window, retryLater, retryServerError) = (window, later, serverError)
        }
    }
}

extension AppConfiguration.Requests {
    /// Reads the keys outside of `retry`.
    mutating func read(_ fields: inout Fields, window range: ClosedRange<Int>) {
        proxy = fields.proxy("proxy")
        window = fields.integer("window", in: range, or: window)
        fields.mapping("doubt") { doubtLimit = $0.integer("limit", in: 1...100, or: doubtLimit) }
    }

    /// Reads the first pauses in the section `retry`, which are no longer than its `ceiling`.
    mutating func readPauses(_ fields: inout Fields, ceiling: Duration) {
        let later = fields.duration("later", in: .seconds(1)...(.seconds(3600)))
        let serverError = fields.duration("server_error", in: .seconds(1)...(.seconds(86_400)))
        for (key, pause) in [("later", later), ("server_error", serverError)] where pause ?? .zero > ceiling {
            fields.refuse(key, "is longer than `ceiling`, \(ceiling)", hint: "shorten it, or raise `ceiling`")
        }
        retryLater = min(later ?? retryLater, ceiling)
        retryServerError = min(serverError ?? retryServerError, ceiling)
    }
}

extension Fields {
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
}

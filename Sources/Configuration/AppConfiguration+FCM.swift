import Document
import FCMHTTP2
package import Gateways
import LinuxIO
import PushModel

extension AppConfiguration {
    /// What only FCM is configured with.
    package struct FCM: Hashable, Sendable {
        /// What becomes of a job with fields of a message that pushspool does not know.
        package enum UnknownFields: String, CaseIterable, Sendable {
            /// It fails.
            case refuse
            /// It is sent as it is, with a warning: Google may have added the field since.
            case warn
        }

        /// The project, by its id or number; `nil`: the service account's own.
        package var project: String?
        /// Where the token endpoint is, whatever `token_uri` in the service account's file says; `nil`: there.
        package var tokenEndpoint: Endpoint?
        /// What becomes of a job with unknown fields.
        package var unknownFields = UnknownFields.refuse
        /// How requests are made. Google allows 100 streams on a connection, and asks for a minute's pause after 429 and for
        /// at least 10 seconds after 5xx ("Best practices when sending FCM messages at scale").
        package var requests = Requests(window: 100, later: .seconds(60), serverError: .seconds(10))

        /// Creates the configuration with all defaults.
        init() {}

        /// The rate unless another is configured: below the quota of 600,000 messages a minute ("Throttling and quotas").
        static let usualRate = Rate(9_000, per: .second)
        /// The highest number of connections unless another is configured: a stream takes as long as an answer, so that one
        /// connection does not reach that rate.
        static let usualConnections = 4
        /// The longest pause unless another is configured: what fails for an hour will not be sent ("Best practices").
        static let usualCeiling = Duration.seconds(3600)
        /// The numbers of connections that are allowed.
        static let connectionRange = 1...16
        /// The windows that are allowed: a client that opens more than 100 streams loses the connection.
        static let windowRange = 1...100
    }
}

extension AppConfiguration.FCM {
    /// Reads the keys outside of sections.
    mutating func read(_ fields: inout Fields) {
        requests.read(&fields, window: Self.windowRange)
        project = fields.project("project")
        unknownFields = fields.choice("unknown_fields", of: UnknownFields.self, or: unknownFields)
        tokenEndpoint = fields.address("token_gateway", defaultPort: 443).map { Endpoint($0) }
    }
}

extension Fields {
    /// The id or number of a project.
    fileprivate mutating func project(_ key: String) -> String? {
        guard let text = string(key) else { return nil }
        if ServiceAccount.isProject(text) { return text }
        refuse(
            key, "\(Diagnostic.quoted(text)) is not a project's id or number",
            hint: "copy the project ID from the Firebase console (Project settings, General), such as weather-4711")
        return nil
    }
}

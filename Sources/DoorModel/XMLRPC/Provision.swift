import SpoolModel

/// A call of pyapns' `provision(app_id, cert, environment, timeout=15)`.
package struct Provision: Hashable, Sendable {
    /// The gateway that the app uses.
    package enum Environment: String, Sendable {
        /// The gateway for development.
        case sandbox
        /// The gateway for users.
        case production
    }

    /// The app's certificate. Describes itself without its content, which holds the private key.
    package enum Certificate: Hashable, Sendable, CustomStringConvertible {
        /// The path of a PEM file on the server.
        case path(String)
        /// The certificate and its private key as PEM.
        case pem(String)

        /// The kind of certificate.
        package var description: String {
            switch self {
            case .path: "path of a PEM file"
            case .pem(let text): "PEM of \(text.utf8.count) bytes"
            }
        }
    }

    /// The app, a valid name.
    package let app: String
    /// The certificate.
    package let certificate: Certificate
    /// The environment.
    package let environment: Environment
    /// The time limit for a connection, at least one second.
    package let timeout: Duration

    private static let form = "provision(app_id, cert, environment, timeout=15)"
    private static let defaultTimeout = 15

    /// Reads the parameters. pyapns' later clients add a fifth, which switches a log on; its value has no effect.
    ///
    /// - Throws: -32602 if a parameter is missing or of the wrong type, 401 for an unknown environment.
    init(_ parameters: CallParameters) throws(MethodFault) {
        try parameters.requireCount(3...5, of: Self.form)
        let name = try parameters.text(0, "app_id")
        guard AppName.isValid(name) else { throw .invalidParameters("app_id: must be \(AppName.rule)") }
        app = name
        let text = try parameters.text(1, "cert")
        guard !text.isEmpty else {
            throw .invalidParameters("cert: is empty; give the path of a PEM file, or its text")
        }
        certificate = text.contains("BEGIN CERTIFICATE") ? .pem(text) : .path(text)
        let environment = try parameters.text(2, "environment")
        guard let known = Environment(rawValue: environment) else { throw .invalidEnvironment(environment) }
        self.environment = known
        timeout = .seconds(try parameters.positiveInteger(3, "timeout") ?? Self.defaultTimeout)
    }
}

import FCMHTTP2
import JSON
package import LinuxIO
import Logging
package import PushHTTP2
import PushModel
import SecureTransport
import ServiceProcess

/// Sends FCM one message that it checks and gives to nobody, to prove an app's key, clock, project and rights.
///
/// Runs on the reactor.
package actor AccountTrial {
    /// Whose message is sent, and how.
    package struct Access: Sendable {
        /// The gateway.
        package let endpoint: Endpoint
        /// The way to the token endpoint, with the TLS context and the proxy of the gateway.
        package let tokens: TokenEndpoint.Access
        /// The account's key.
        package let key: ServiceAccountKey
        /// The id or number of the project.
        package let project: String

        /// Creates an access.
        package init(
            _ endpoint: Endpoint, tokens: TokenEndpoint.Access, key: ServiceAccountKey, project: String
        ) {
            (self.endpoint, self.tokens, self.key, self.project) = (endpoint, tokens, key, project)
        }
    }

    private let access: Access
    private let reactor: Reactor

    /// Creates a trial.
    package init(_ access: Access, on reactor: Reactor) {
        (self.access, self.reactor) = (access, reactor)
    }

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Gets an access token, which is not kept.
    ///
    /// - Parameter deadline: When to give up waiting for the token endpoint.
    /// - Returns: The value of `authorization`. A secret.
    /// - Throws: `AccountRefusal` if the account gets no token; `GatewayFault` if there is no answer; `SystemError`: no thread
    ///   can be started; `CancellationError`.
    package func authorization(until deadline: ContinuousClock.Instant) async throws -> String {
        let worker = try WorkerThread(name: "trial")
        defer { worker.stop() }
        let silent = Logger(label: "trial") { _ in SwiftLogNoOpLogHandler() }
        let endpoint = TokenEndpoint(access.tokens, on: reactor)
        let source = AccessTokenSource(access.key, keptIn: nil, on: (worker, silent)) { head, body in
            try await endpoint.answer(to: head, body: body, until: deadline)
        }
        return try await source.current(at: .now).authorization
    }

    /// Sends the message.
    ///
    /// - Parameters:
    ///   - authorization: What `authorization(until:)` returned.
    ///   - deadline: When to give up waiting for the answer.
    /// - Returns: FCM's answer.
    /// - Throws: `GatewayFault` if there is no answer; `CancellationError`.
    package func reply(with authorization: String, until deadline: ContinuousClock.Instant) async throws -> Reply {
        let message = TrialMessage(
            authority: access.endpoint.authority, project: access.project, authorization: authorization)
        do {
            let stream = try await access.endpoint.openHTTP2(
                access.tokens.context, through: access.tokens.proxy, on: reactor, until: deadline)
            let connection = RequestConnection(stream, bodyLimit: 16_384)
            let response = try await connection.answer(to: message.head, body: message.body, until: deadline)
            await connection.close()
            var parser = JSON.Parser()
            return Reply(fcmStatus: response.status, body: response.body, parser: &parser)
        } catch let failure as ConnectFailure {
            throw failure.fault
        } catch let fault as RequestFault {
            throw GatewayFault(
                "cannot check a message at \(access.endpoint): \(fault.cause.message)", hint: fault.cause.hint)
        }
    }
}

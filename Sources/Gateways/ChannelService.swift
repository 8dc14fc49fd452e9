package import APNSHTTP2
import JSON
package import LinuxIO
package import OpenSSL
package import PushModel
package import SecureTransport
import ServiceProcess

/// A client of Apple's channel management: it creates, reads, deletes and lists an app's broadcast channels.
///
/// It keeps one connection from request to request, and opens it for the first. Requests must not overlap. A provider token
/// is signed for each connection, and kept nowhere.
package actor ChannelService {
    /// Where and as whom to manage channels.
    package struct Access: Sendable {
        /// The host of the channel management.
        package var endpoint: Endpoint
        /// The identity to present, if it is a certificate, and the authorities to trust; ALPN is `h2`.
        package var context: TLSContext
        /// The key that signs provider tokens; `nil` when a certificate is the identity.
        package var key: ProviderKey?
        /// The app's bundle identifier.
        package var app: String
        /// The proxy to connect through, if any.
        package var proxy: Proxy?
        /// How long the gateway may take.
        package var timeouts = GatewayTimeouts()

        /// Creates access with the contract's defaults.
        package init(endpoint: Endpoint, context: TLSContext, app: String) {
            (self.endpoint, self.context, self.app) = (endpoint, context, app)
        }
    }

    private let reactor: Reactor
    private let access: Access
    private var connected: (connection: RequestConnection, sender: RequestFields.Sender)?
    private var parser = JSON.Parser()

    /// Creates a client. It connects when the first request is made.
    package init(_ access: Access, on reactor: Reactor) {
        (self.access, self.reactor) = (access, reactor)
    }

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Makes a request and waits for its answer.
    ///
    /// - Throws: `RequestFault`; `CancellationError`. The next request opens another connection.
    package func answer(to request: ChannelRequest) async throws -> ChannelReply {
        let (connection, sender) = try await usableConnection()
        connected = nil
        let response = try await connection.answer(
            to: request.head(from: sender), body: request.body, until: .now + access.timeouts.answer)
        let reply = ChannelReply(
            .init(status: response.status, channel: response.value(of: "apns-channel-id"), body: response.body),
            to: request, parser: &parser)
        // An expired or refused token must not be presented again.
        if case .refused = reply { await connection.close() } else { connected = (connection, sender) }
        return reply
    }

    /// Closes the connection.
    package func close() async {
        let connection = connected?.connection
        connected = nil
        await connection?.close()
    }

    private func usableConnection() async throws -> (connection: RequestConnection, sender: RequestFields.Sender) {
        if let connected, connected.connection.isUsable { return connected }
        do {
            let stream = try await access.endpoint.openHTTP2(
                access.context, through: access.proxy, on: reactor,
                until: .now + access.timeouts.connect)
            let token = try access.key?.sign(at: .now)
            let sender = RequestFields.Sender(
                authority: access.endpoint.authority, app: access.app,
                authorization: token?.authorization)
            return (RequestConnection(stream, bodyLimit: ChannelReply.bodyLimit), sender)
        } catch let failure as ConnectFailure {
            throw RequestFault.unreached(failure.fault)
        } catch let error as TLSError {
            throw RequestFault.unreached(GatewayFault(error.message, hint: error.hint))
        }
    }
}

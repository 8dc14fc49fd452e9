package import APNSHTTP2
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

    /// Why a request got no answer.
    package enum Fault: Error, Hashable, Sendable {
        /// The gateway cannot have acted on the request. It may be repeated.
        case unreached(GatewayFault)
        /// The gateway may have acted on the request. Look before you repeat one that is not idempotent.
        case unanswered(GatewayFault)

        /// What went wrong.
        package var cause: GatewayFault {
            switch self {
            case .unreached(let fault), .unanswered(let fault): fault
            }
        }
    }

    private let reactor: Reactor
    private let access: Access
    private var connection: ChannelConnection?

    /// Creates a client. It connects when the first request is made.
    package init(_ access: Access, on reactor: Reactor) {
        (self.access, self.reactor) = (access, reactor)
    }

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Makes a request and waits for its answer.
    ///
    /// - Throws: `Fault`; `CancellationError`. The next request opens another connection.
    package func answer(to request: ChannelRequest) async throws -> ChannelReply {
        let connection = try await connected()
        self.connection = nil
        let reply = try await connection.answer(to: request, until: .now + access.timeouts.answer)
        // An expired or refused token must not be presented again.
        if case .refused = reply { await connection.close() } else { self.connection = connection }
        return reply
    }

    /// Closes the connection.
    package func close() async {
        let connection = connection
        self.connection = nil
        await connection?.close()
    }

    private func connected() async throws -> ChannelConnection {
        if let connection, connection.isUsable { return connection }
        do {
            let stream = try await access.endpoint.openHTTP2(
                access.context, through: access.proxy, on: reactor,
                until: .now + access.timeouts.connect)
            let token = try access.key?.sign(at: .now)
            let sender = RequestFields.Sender(
                authority: access.endpoint.authority, app: access.app,
                authorization: token?.authorization)
            return ChannelConnection(stream, sender)
        } catch let failure as ConnectFailure {
            throw Fault.unreached(failure.fault)
        } catch let error as TLSError {
            throw Fault.unreached(GatewayFault(error.message, hint: error.hint))
        }
    }
}

import FCMHTTP2
import HTTP2
import LinuxIO
package import OpenSSL
package import PushModel
package import SecureTransport
import ServiceProcess

/// A server that gives access tokens, and the way to it.
///
/// Runs on the reactor. Each request has a connection of its own: there is about one an hour.
package actor TokenEndpoint {
    /// Where the server is, and how it is reached.
    package struct Access: Sendable {
        /// The server.
        package var endpoint: Endpoint
        /// The authorities to trust; ALPN is `h2`.
        package var context: TLSContext
        /// The proxy to connect through, if any.
        package var proxy: Proxy?
        /// How long the server may take.
        package var timeouts = GatewayTimeouts()

        /// Creates access with the contract's defaults.
        package init(endpoint: Endpoint, context: TLSContext) { (self.endpoint, self.context) = (endpoint, context) }
    }

    private let access: Access
    private let reactor: Reactor

    init(_ access: Access, on reactor: Reactor) { (self.access, self.reactor) = (access, reactor) }

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Makes a request and waits for its answer, at most as long as the timeouts allow.
    ///
    /// - Parameters:
    ///   - head: The head of the request.
    ///   - body: The body of the request.
    ///   - deadline: When to give up, if that is earlier.
    /// - Returns: The answer.
    /// - Throws: `GatewayFault` without an answer: try again later; `CancellationError`.
    func answer(
        to head: RequestHead, body: [UInt8], until deadline: ContinuousClock.Instant? = nil
    ) async throws -> (status: Int, body: ArraySlice<UInt8>) {
        func end(after timeout: Duration) -> ContinuousClock.Instant {
            let end = ContinuousClock.now + timeout
            return deadline.map { min($0, end) } ?? end
        }
        do {
            let stream = try await access.endpoint.openHTTP2(
                access.context, through: access.proxy, on: reactor, until: end(after: access.timeouts.connect))
            let connection = RequestConnection(stream, bodyLimit: AccessTokenReply.bodyLimit)
            let response = try await connection.answer(
                to: head, body: body, until: end(after: access.timeouts.answer))
            await connection.close()
            return (response.status, response.body)
        } catch let failure as ConnectFailure {
            throw failure.fault
        } catch let fault as RequestFault {
            throw GatewayFault("\(access.endpoint): \(fault.cause.message)", hint: fault.cause.hint)
        }
    }
}

extension TokenEndpoint.Access: Hashable {
    /// Whether both lead to the same server in the same way, with the same context object.
    package static func == (left: Self, right: Self) -> Bool {
        left.endpoint == right.endpoint && left.context === right.context && left.proxy == right.proxy
            && left.timeouts == right.timeouts
    }

    /// Feeds the parts that are compared into the hasher.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(endpoint)
        hasher.combine(ObjectIdentifier(context))
        hasher.combine(proxy)
        hasher.combine(timeouts)
    }
}

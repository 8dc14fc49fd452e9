import APNSModel
import LinuxIO
import OpenSSL
import SecureTransport

/// Why a connection did not come about, or what it is taken for when it ends at once.
struct ConnectFailure: Error {
    let cause: ConnectPolicy.Cause
    let fault: GatewayFault

    init(_ cause: ConnectPolicy.Cause, _ message: String, hint: String? = nil) {
        self.cause = cause
        self.fault = GatewayFault(message, hint: hint)
    }

    /// Sorts an error of connecting, through a proxy if there is one, or of the handshake.
    init(_ error: any Error, to endpoint: Endpoint, through proxy: Proxy? = nil) {
        let next = proxy.map { "the proxy \($0)" } ?? "the gateway"
        switch error {
        case let failure as ConnectFailure:
            self = failure
        case let error as TLSError where error.isOwnCertificateRefused:
            self.init(.refused, "\(endpoint): \(error.message)", hint: error.hint)
        case let error as TLSError:
            self.init(.unreachable, "\(endpoint): \(error.message)", hint: error.hint)
        case let error as LookupError:
            self.init(.unreachable, "\(error)", hint: "check the name of \(next) and the resolver")
        case let error as ProxyError:
            self.init(.unreachable, error.message, hint: error.hint)
        case let error as ConnectError:
            self.init(.unreachable, "\(error)", hint: "check host and port of \(next), and the way to it")
        default:
            self.init(.unreachable, "\(endpoint): \(error)")
        }
    }
}

extension Endpoint {
    /// How long to wait behind the handshake for a session ticket: a TLS 1.3 server that refuses our certificate says so
    /// only then, and one that knows us under the wrong environment closes.
    static let ticketPause = Duration.milliseconds(100)

    /// Connects, through a proxy if there is one, and shakes hands.
    ///
    /// - Throws: `ConnectFailure`; `CancellationError`.
    func open(
        _ context: TLSContext, through proxy: Proxy? = nil, on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> SecureStream {
        var place = SecureEndpoint(host: address, serverName: serverName, context: context)
        (place.proxy, place.writeTimeout) = (proxy, writeTimeout)
        return try await failing(through: proxy) {
            try await SecureStream.connect(to: place, on: reactor, until: deadline)
        }
    }

    /// Gives the peer the time to refuse our certificate. For peers that speak only when spoken to.
    ///
    /// - Throws: `ConnectFailure`; `CancellationError`.
    func awaitConsent(_ stream: SecureStream) async throws {
        _ = try await failing { try await stream.awaitConfirmation(until: .now + Self.ticketPause) }
    }

    /// The same as `open`, for HTTP/2: a peer that does not choose it in the handshake speaks something else.
    ///
    /// - Throws: `ConnectFailure`; `CancellationError`.
    func openHTTP2(
        _ context: TLSContext, through proxy: Proxy?, on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> SecureStream {
        let stream = try await open(context, through: proxy, on: reactor, until: deadline)
        guard stream.facts.applicationProtocol == "h2" else {
            throw ConnectFailure(
                .unreachable, "\(self) does not speak HTTP/2",
                hint: "check the gateway's host and port, or set protocol: binary")
        }
        return stream
    }

    private func failing<Value>(
        through proxy: Proxy? = nil, _ body: () async throws -> sending Value
    ) async throws -> sending Value {
        do {
            return try await body()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw ConnectFailure(error, to: self, through: proxy)
        }
    }
}

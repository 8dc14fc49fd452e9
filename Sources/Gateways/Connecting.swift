import LinuxIO
import OpenSSL
import PushModel
import SecureTransport

/// Why a connection failed, and how the connect policy must treat it.
struct ConnectFailure: Error {
    let cause: ConnectPolicy.Cause
    let fault: GatewayFault

    init(_ cause: ConnectPolicy.Cause, _ message: String, hint: String? = nil) {
        self.cause = cause
        self.fault = GatewayFault(message, hint: hint)
    }

    /// Classifies an error of connecting (through a proxy if there is one) or of the handshake.
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
            self.init(.unreachable, "\(error)", hint: "check the host name of \(next), and DNS")
        case let error as ProxyError:
            self.init(.unreachable, error.message, hint: error.hint)
        case let error as ConnectError:
            self.init(.unreachable, "\(error)", hint: "check host and port of \(next), and the network")
        default:
            self.init(.unreachable, "\(endpoint): \(error)")
        }
    }
}

extension Endpoint {
    /// How long to wait after the handshake for a session ticket. Only then does a TLS 1.3 server report that it
    /// refuses our certificate, or close because the certificate is for the wrong environment.
    static let ticketPause = Duration.milliseconds(100)

    /// Connects, through a proxy if there is one, and performs the handshake.
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

    /// Waits long enough for the peer to refuse our certificate. For protocols in which the peer sends nothing first.
    ///
    /// - Throws: `ConnectFailure`; `CancellationError`.
    func awaitConsent(_ stream: SecureStream) async throws {
        _ = try await failing { try await stream.awaitConfirmation(until: .now + Self.ticketPause) }
    }

    /// Does the same as `open` for HTTP/2, and fails if the peer does not choose `h2` in the handshake.
    ///
    /// - Throws: `ConnectFailure`; `CancellationError`.
    func openHTTP2(
        _ context: TLSContext, through proxy: Proxy?, on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> SecureStream {
        let stream = try await open(context, through: proxy, on: reactor, until: deadline)
        guard stream.facts.applicationProtocol == "h2" else {
            throw ConnectFailure(
                .unreachable, "\(self) does not speak HTTP/2",
                hint: "check host and port; an app whose gateway has no HTTP/2 needs protocol: binary")
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

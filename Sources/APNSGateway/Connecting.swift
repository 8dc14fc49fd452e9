import APNSBinary
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

    /// Sorts an error of connecting or of the handshake.
    init(_ error: any Error, to endpoint: Endpoint) {
        switch error {
        case let failure as ConnectFailure:
            self = failure
        case let error as TLSError where error.isOwnCertificateRefused:
            self.init(.refused, "\(endpoint): \(error.message)", hint: error.hint)
        case let error as TLSError:
            self.init(.unreachable, "\(endpoint): \(error.message)", hint: error.hint)
        case let error as LookupError:
            self.init(.unreachable, "\(error)", hint: "check the gateway's name and the resolver")
        case let error as ConnectError:
            self.init(.unreachable, "\(error)", hint: "check the gateway's host and port, and the way to it")
        default:
            self.init(.unreachable, "\(endpoint): \(error)")
        }
    }
}

extension Endpoint {
    /// How long to wait behind the handshake for a session ticket: a TLS 1.3 server that refuses our certificate says so
    /// only then, and one that knows us under the wrong environment closes.
    static let ticketPause = Duration.milliseconds(100)

    /// Connects and shakes hands.
    ///
    /// - Throws: `ConnectFailure`; `CancellationError`.
    func open(
        _ context: TLSContext, on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> SecureStream {
        do {
            let addresses = try await AddressLookup.addresses(of: address, on: reactor, until: deadline)
            let socket = try await StreamSocket.connect(toAnyOf: addresses, on: reactor, until: deadline)
            try socket.setNoDelay()
            try socket.setKeepAlive()
            try socket.setUserTimeout(.seconds(20))
            let stream = try SecureStream(connecting: socket, context: context, serverName: serverName)
            try await stream.handshake(until: deadline)
            return stream
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw ConnectFailure(error, to: self)
        }
    }

    /// Makes sure that the peer did not hang up on us right behind the handshake. For peers that speak only when spoken to.
    ///
    /// - Throws: `ConnectFailure`; `CancellationError`.
    func awaitTicket(_ stream: SecureStream) async throws {
        let deadline = ContinuousClock.now + Self.ticketPause
        var bytes: [UInt8] = []
        while !stream.hasReceivedSessionTicket {
            let readiness = await stream.wait(for: .readable, until: deadline)
            if readiness.contains(.cancelled) { throw CancellationError() }
            if try isClosed(stream, &bytes) {
                throw ConnectFailure(
                    .refused, "\(self): closed right after the handshake",
                    hint: "the certificate is probably of the other environment, or was revoked")
            }
            if readiness.contains(.timedOut) { return }
        }
    }

    private func isClosed(_ stream: SecureStream, _ bytes: inout [UInt8]) throws -> Bool {
        do {
            if case .closed = try stream.read(into: &bytes) { return true }
            return false
        } catch {
            throw ConnectFailure(error, to: self)
        }
    }
}

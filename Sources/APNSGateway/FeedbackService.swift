package import LinuxIO
package import OpenSSL
import SecureTransport

/// Asks the feedback service which tokens are gone (Apple, "The Feedback Service"; port 2196).
///
/// Reading empties the service's list: what is read and lost is gone for good. So the bytes are handed on as they come,
/// before any more are read, for the caller to make durable.
package struct FeedbackService: Sendable {
    private let endpoint: Endpoint
    private let context: TLSContext
    private let connectTimeout: Duration
    private let answerTimeout: Duration

    /// Creates a client of the service at `endpoint`.
    ///
    /// - Parameters:
    ///   - endpoint: The service, not the push gateway.
    ///   - context: The app's identity: the certificate says whose list it is.
    ///   - connectTimeout: How long connecting may take, handshake included.
    ///   - answerTimeout: How long the service may be silent before the rest is left for the next time.
    package init(endpoint: Endpoint, context: TLSContext, connectTimeout: Duration, answerTimeout: Duration) {
        self.endpoint = endpoint
        self.context = context
        self.connectTimeout = connectTimeout
        self.answerTimeout = answerTimeout
    }

    /// Reads the list to its end and hands its bytes to `keep` as they come.
    ///
    /// - Parameters:
    ///   - reactor: Where to wait; the caller must run on it.
    ///   - keep: Makes bytes durable before it returns; they may be any piece of a tuple.
    /// - Throws: `GatewayFault` when the service could not be asked or broke off: what was read has been kept, ask again
    ///   later; what `keep` throws; `CancellationError`.
    package func read(on reactor: Reactor, keep: ([UInt8]) async throws -> Void) async throws {
        let stream = try await open(on: reactor)
        var bytes: [UInt8] = []
        while true {
            bytes.removeAll(keepingCapacity: true)
            let result = try faulting { try stream.read(into: &bytes) }
            switch result {
            case .bytes:
                try await keep(bytes)
            case .closed(let isClean):
                if isClean { _ = await stream.shutdown(until: .now + .seconds(1)) }
                return
            case .wouldBlock:
                try await wait(stream)
            }
        }
    }

    private func open(on reactor: Reactor) async throws -> sending SecureStream {
        do {
            return try await endpoint.open(context, on: reactor, until: .now + connectTimeout)
        } catch let failure as ConnectFailure {
            throw failure.fault
        }
    }

    private func wait(_ stream: SecureStream) async throws {
        _ = try faulting { try stream.flush() }
        let readiness = await stream.wait(for: .readable, until: .now + answerTimeout)
        if readiness.contains(.cancelled) { throw CancellationError() }
        if readiness == .timedOut { throw GatewayFault("\(endpoint): the feedback service stopped in the middle") }
    }

    private func faulting<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw GatewayFault("\(endpoint): \(error)")
        }
    }
}

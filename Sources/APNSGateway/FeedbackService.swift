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

    /// How much one reading may bring.
    package struct Limits: Hashable, Sendable {
        /// How many bytes, give or take one piece: 64 MiB are 1.7 million entries of 38 bytes, one for each device that has
        /// removed the app since the last asking.
        package var byteCount = 64 << 20
        /// How long it may take from the first byte to the last.
        package var duration = Duration.seconds(600)

        /// The usual limits.
        package init() {}
    }

    /// How a reading ended.
    package enum Ending: Hashable, Sendable {
        /// The service has told all.
        case whole
        /// It told more than is read at a time, or for longer. What comes of the rest is the service's business.
        case tooLong, tooSlow
        /// Whoever keeps the bytes has no room for more.
        case noRoom
    }

    /// How many bytes are handed on together if they come within the patience: to make them durable costs a sync each time,
    /// however few they are.
    private static let pieceByteCount = 65_536
    private static let patience = Duration.seconds(1)

    /// Reads the list to its end, or to a limit, and hands its bytes to `keep` within a second from when they came.
    ///
    /// - Parameters:
    ///   - reactor: Where to wait; the caller must run on it.
    ///   - limits: How much to read.
    ///   - keep: Makes bytes durable before it returns, and says whether there is room for more; they may be any piece of a
    ///     tuple.
    /// - Returns: How it ended. What was read has been kept.
    /// - Throws: `GatewayFault` when the service could not be asked or broke off: what was read has been kept, ask again
    ///   later; what `keep` throws; `CancellationError`.
    package func read(
        on reactor: Reactor, within limits: Limits = Limits(), keep: ([UInt8]) async throws -> Bool
    ) async throws -> Ending {
        let stream = try await open(on: reactor)
        let deadline = ContinuousClock.now + limits.duration
        var (bytes, count) = ([UInt8](), 0)
        while true {
            let result = await gather(from: stream, into: &bytes, until: deadline)
            if !bytes.isEmpty {
                count += bytes.count
                guard try await keep(bytes) else { return leave(stream, .noRoom) }
                bytes.removeAll(keepingCapacity: true)
            }
            if case .closed(let isClean) = try result.get() {
                if isClean { _ = await stream.shutdown(until: .now + .seconds(1)) }
                return .whole
            }
            if count >= limits.byteCount { return leave(stream, .tooLong) }
            if deadline <= .now { return leave(stream, .tooSlow) }
        }
    }

    private func leave(_ stream: SecureStream, _ ending: Ending) -> Ending {
        stream.abort()
        return ending
    }

    private func open(on reactor: Reactor) async throws -> sending SecureStream {
        do {
            return try await endpoint.open(context, on: reactor, until: .now + connectTimeout)
        } catch let failure as ConnectFailure {
            throw failure.fault
        }
    }

    /// Reads until there is a piece, or nothing more is to be had within the patience from its first byte.
    ///
    /// - Returns: What came last, or what keeps more from coming. What is in `bytes` has come before.
    private func gather(
        from stream: SecureStream, into bytes: inout [UInt8], until deadline: ContinuousClock.Instant
    ) async -> Result<SecureStream.ReadResult, any Error> {
        var due: ContinuousClock.Instant?
        while true {
            let result = Result { try faulting { try stream.read(into: &bytes) } }
            if !bytes.isEmpty, due == nil { due = min(deadline, .now + Self.patience) }
            switch result {
            case .success(.bytes) where bytes.count < Self.pieceByteCount: continue
            case .success(.bytes), .success(.closed), .failure: return result
            case .success(.wouldBlock): break
            }
            do {
                guard try await wait(stream, until: due ?? deadline, mayBeSilent: due != nil) else { return result }
            } catch {
                return .failure(error)
            }
        }
    }

    /// Waits for more.
    ///
    /// - Returns: `false` when the time is up.
    private func wait(
        _ stream: SecureStream, until deadline: ContinuousClock.Instant, mayBeSilent: Bool
    ) async throws -> Bool {
        _ = try faulting { try stream.flush() }
        let limit = mayBeSilent ? deadline : min(deadline, .now + answerTimeout)
        let readiness = await stream.wait(for: .readable, until: limit)
        if readiness.contains(.cancelled) { throw CancellationError() }
        if readiness == .timedOut, .now < deadline {
            throw GatewayFault("\(endpoint): the feedback service stopped in the middle")
        }
        return readiness != .timedOut
    }

    private func faulting<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw GatewayFault("\(endpoint): \(error)")
        }
    }
}

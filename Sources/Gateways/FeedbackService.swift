package import LinuxIO
package import OpenSSL
package import PushModel
import SecureTransport

/// Reads the tokens of uninstalled apps from the feedback service (Apple, "The Feedback Service"; port 2196).
///
/// Reading empties the service's list, so bytes that are read and lost cannot be read again. Each piece is therefore
/// passed to the caller, who must make it durable, before more is read.
package struct FeedbackService: Sendable {
    private let endpoint: Endpoint
    private let context: TLSContext
    private let timeouts: GatewayTimeouts

    /// Creates a client of the service at `endpoint`.
    ///
    /// - Parameters:
    ///   - endpoint: The address of the service, not of the push gateway.
    ///   - context: The app's identity. The certificate determines whose list is read.
    ///   - timeouts: How long the service may take. If it is silent for longer, the rest is left for the next read.
    package init(endpoint: Endpoint, context: TLSContext, timeouts: GatewayTimeouts) {
        (self.endpoint, self.context, self.timeouts) = (endpoint, context, timeouts)
    }

    /// The limits of one read.
    package struct Limits: Hashable, Sendable {
        /// The number of bytes, exceeded by at most one piece. 64 MiB hold 1.7 million entries of 38 bytes, one for
        /// each device that removed the app since the last read.
        package var byteCount = 64 << 20
        /// The time from the first byte to the last.
        package var duration = Duration.seconds(600)

        /// Creates the default limits.
        package init() {}
    }

    /// How a read ended.
    package enum Ending: Hashable, Sendable {
        /// The list was read to its end.
        case whole
        /// The list exceeded the byte or time limit. Whether the service keeps the rest is up to the service.
        case tooLong, tooSlow
        /// `keep` has no room for more.
        case noRoom
    }

    /// The most bytes collected before they are passed on, if they arrive within `patience`. Each piece costs the
    /// caller a sync, however small it is.
    private static let pieceByteCount = 65_536
    private static let patience = Duration.seconds(1)

    /// Reads the list to its end or to a limit, and passes its bytes to `keep` within a second of their arrival.
    ///
    /// - Parameters:
    ///   - reactor: The reactor to wait on; the caller must run on it.
    ///   - limits: How much to read.
    ///   - keep: Makes the bytes durable before it returns, and returns whether there is room for more. The bytes may
    ///     start and end anywhere in a tuple.
    /// - Returns: How the read ended. `keep` has received everything that was read.
    /// - Throws: `GatewayFault` if the service could not be reached or broke off: `keep` has received everything that
    ///   was read; try again later. Also what `keep` throws, and `CancellationError`.
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
            return try await endpoint.open(context, on: reactor, until: .now + timeouts.connect)
        } catch let failure as ConnectFailure {
            throw failure.fault
        }
    }

    /// Reads until a full piece is there, or until `patience` has passed since its first byte.
    ///
    /// - Returns: The last result: bytes, or why no more could be read. `bytes` holds everything read before it.
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

    /// Waits for more bytes.
    ///
    /// - Returns: `false` when the deadline has passed.
    private func wait(
        _ stream: SecureStream, until deadline: ContinuousClock.Instant, mayBeSilent: Bool
    ) async throws -> Bool {
        _ = try faulting { try stream.flush() }
        let limit = mayBeSilent ? deadline : min(deadline, .now + timeouts.answer)
        let readiness = await stream.wait(for: .readable, until: limit)
        if readiness.contains(.cancelled) { throw CancellationError() }
        if readiness == .timedOut, .now < deadline {
            throw GatewayFault("\(endpoint): the feedback service ended in the middle of an entry")
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

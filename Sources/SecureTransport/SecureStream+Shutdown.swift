import LinuxIO
import OpenSSL

/// The result of closing a connection.
package struct ShutdownResult: Sendable, Hashable {
    /// Plaintext that arrived after this side's `close_notify`, at most 64 KiB. It may contain an error reply.
    package fileprivate(set) var late: [UInt8] = []
    /// Whether the peer has ended its stream too, and has therefore read everything. `false` if the deadline passed or
    /// the connection broke: the last bytes written may not have arrived.
    package fileprivate(set) var isMutual = false
    /// Whether the peer sent `close_notify` too.
    package fileprivate(set) var isClean = false
}

extension SecureStream {
    /// Closes the connection cleanly: sends the pending ciphertext and `close_notify`, ends this side's stream, and
    /// reads to the end of the peer's. Continues in a cancelled task. The socket itself is closed when the stream is
    /// released.
    ///
    /// It reads to the end because closing with unread bytes, such as session tickets, would make the kernel send a
    /// reset, which destroys bytes that the peer has not read yet.
    package func shutdown(until deadline: ContinuousClock.Instant) async -> ShutdownResult {
        engine.close()
        var result = ShutdownResult()
        var hasEndedWriting = false
        var hasPeerEnded = false
        while !hasEndedWriting || !hasPeerEnded {
            if !hasEndedWriting && flushOrGiveUp() {
                socket.shutdownWrite()
                hasEndedWriting = true
            }
            if !hasPeerEnded {
                switch readOn(&result) {
                case .ended: hasPeerEnded = true
                case .broken: return result
                case .open: break
                }
            }
            if hasEndedWriting && hasPeerEnded { break }
            let wanted = hasPeerEnded ? needed : needed.union(.readable)
            let found = await waiter.waitToTheEnd(for: wanted, until: deadline)
            if !found.isDisjoint(with: [.timedOut, .cancelled]) || deadline <= .now { return result }
        }
        result.isMutual = pendingByteCount == 0
        return result
    }

    private enum PeerState {
        case open, ended, broken
    }

    /// Reads the available bytes, up to a fair share.
    private func readOn(_ result: inout ShutdownResult) -> PeerState {
        for _ in 0..<Self.fairReads {
            do {
                var bytes: [UInt8] = []
                switch try read(into: &bytes) {
                case .bytes: result.late.append(contentsOf: bytes.prefix(Self.lateLimit - result.late.count))
                case .wouldBlock: return .open
                case .closed(let isClean):
                    result.isClean = isClean
                    return discard()
                }
            } catch is TLSError {
                // The peer's protocol errors are irrelevant now. Only the end of its stream matters.
                return discard()
            } catch {
                return .broken
            }
        }
        return .open
    }

    /// Reads and drops ciphertext after the peer's `close_notify`, until its stream ends.
    private func discard() -> PeerState {
        for _ in 0..<Self.fairReads {
            do throws(SystemError) {
                switch try dropArriving() {
                case .bytes: continue
                case .wouldBlock: return .open
                case .closed: return .ended
                }
            } catch {
                return .broken
            }
        }
        return .open
    }

    /// Flushes. Returns `true` when everything has left or the connection is broken.
    private func flushOrGiveUp() -> Bool {
        do throws(SystemError) {
            return try flush()
        } catch {
            // Reading continues and finds the end or the error; `isMutual` reports that bytes were left.
            return true
        }
    }

    private static let fairReads = 16
    private static let lateLimit = 65_536
}

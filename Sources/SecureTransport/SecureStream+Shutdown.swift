import LinuxIO
import OpenSSL

/// How a connection was closed.
package struct Farewell: Sendable, Hashable {
    /// Plaintext that came after the goodbye had been said, at most 64 KiB of it: an error reply may be among it.
    package fileprivate(set) var late: [UInt8] = []
    /// Whether the peer has ended its stream as well, so that it has read all. `false` at the deadline, or when the
    /// connection broke: what was written last may not have arrived.
    package fileprivate(set) var isMutual = false
    /// Whether the peer said goodbye in its turn (`close_notify`).
    package fileprivate(set) var isClean = false
}

extension SecureStream {
    /// Closes in good order: sends what is pending and the goodbye, ends this side's stream, and reads to the end of
    /// the peer's. Goes on in a task that has been cancelled. The socket itself closes when the stream goes.
    ///
    /// Closing with unread bytes (session tickets, for one) would make the kernel send a reset, which destroys bytes that
    /// the peer has not read yet; hence the reading.
    package func shutdown(until deadline: ContinuousClock.Instant) async -> Farewell {
        engine.close()
        var farewell = Farewell()
        var hasEndedWriting = false
        var hasPeerEnded = false
        while !hasEndedWriting || !hasPeerEnded {
            if !hasEndedWriting && flushOrGiveUp() {
                socket.shutdownWrite()
                hasEndedWriting = true
            }
            if !hasPeerEnded {
                switch readOn(&farewell) {
                case .ended: hasPeerEnded = true
                case .broken: return farewell
                case .open: break
                }
            }
            if hasEndedWriting && hasPeerEnded { break }
            let wanted = hasPeerEnded ? needed : needed.union(.readable)
            let found = await waiter.waitToTheEnd(for: wanted, until: deadline)
            if !found.isDisjoint(with: [.timedOut, .cancelled]) || deadline <= .now { return farewell }
        }
        farewell.isMutual = pendingByteCount == 0
        return farewell
    }

    private enum PeerState {
        case open, ended, broken
    }

    /// Reads what there is, up to a fair share.
    private func readOn(_ farewell: inout Farewell) -> PeerState {
        for _ in 0..<Self.fairReads {
            do {
                var bytes: [UInt8] = []
                switch try read(into: &bytes) {
                case .bytes: farewell.late.append(contentsOf: bytes.prefix(Self.lateLimit - farewell.late.count))
                case .wouldBlock: return .open
                case .closed(let isClean):
                    farewell.isClean = isClean
                    return discard()
                }
            } catch is TLSError {
                // Whatever the peer got wrong no longer matters: only the end of its stream does.
                return discard()
            } catch {
                return .broken
            }
        }
        return .open
    }

    /// Reads and drops ciphertext after the peer's goodbye, until its stream ends.
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

    /// Flushes; `true` when there is nothing more to hope for, because all has left or the connection is broken.
    private func flushOrGiveUp() -> Bool {
        do throws(SystemError) {
            return try flush()
        } catch {
            // Reading goes on and finds the end or the error; `isMutual` will say that bytes were left over.
            return true
        }
    }

    private static let fairReads = 16
    private static let lateLimit = 65_536
}

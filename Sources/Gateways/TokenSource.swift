package import APNSHTTP2
import LinuxIO
import Logging
import OpenSSL
package import PushModel
import Synchronization

/// The provider tokens of one key: one at a time, for all connections of this process and of its siblings on the host.
///
/// Runs on a worker thread, because it sometimes reads and writes a small file. `token(at:)` is cheap and works on any
/// thread. Never logs a token.
package actor TokenSource {
    /// The token in memory.
    private struct Held: Sendable {
        let token: ProviderToken
        let schedule: TokenSchedule
    }

    /// The key that it signs with.
    package nonisolated let key: ProviderKey

    private nonisolated let held = Mutex<Held?>(nil)
    private nonisolated let signings = Mutex(0)
    private let worker: WorkerThread
    private let file: TokenFile?
    private let logger: Logger

    /// Creates the source of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - folder: The folder that keeps tokens across restarts; `nil` keeps them in memory only.
    ///   - worker: The thread to block, which must outlive this source.
    ///   - logger: Reports unusable files.
    init(_ key: ProviderKey, folder: Directory?, worker: WorkerThread, logger: Logger) {
        self.key = key
        self.file = folder.map { TokenFile(of: key, in: $0) }
        self.worker = worker
        self.logger = logger
    }

    /// The worker's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// The number of tokens that this process has signed with the key.
    package nonisolated var signingCount: Int { signings.withLock { $0 } }

    /// The token in memory, if it may be used now; on `nil`, call `current(at:)`.
    ///
    /// Call it on any thread, before each write: it only takes a lock briefly.
    package nonisolated func token(at now: WallTime) -> ProviderToken? {
        held.withLock { held in held?.schedule.state(at: now) == .current ? held?.token : nil }
    }

    /// Returns the token to use now: the one in memory, one that a sibling or an earlier process signed, or a new one.
    ///
    /// Takes milliseconds, and up to two seconds while a sibling hangs.
    ///
    /// - Throws: `GatewayFault` when no token can be signed: try again later; `CancellationError`.
    package func current(at now: WallTime) async throws -> ProviderToken {
        if let token = token(at: now) { return token }
        let lock = try await lock()
        return try withExtendedLifetime(lock) { try next(at: now) }
    }

    /// Returns the token to use after a gateway's `ExpiredProviderToken` for `failed`, although its time has not run out.
    ///
    /// Signs one new token. If the gateway calls that one expired within 20 minutes too, keeps it: either the clock is
    /// wrong, or the gateway says so of a notification for whatever reason.
    ///
    /// - Throws: As `current(at:)`.
    package func renew(after failed: ProviderToken, at now: WallTime) async throws -> ProviderToken {
        let lock = try await lock()
        return try withExtendedLifetime(lock) {
            // It may have been renewed in the meantime, here or in a sibling.
            adoptFile(at: now)
            guard let held = held.withLock({ $0 }), held.token == failed, held.schedule.allowsReplacement(at: now)
            else { return try next(at: now) }
            return try sign(at: now, isReplacement: true)
        }
    }
}

extension TokenSource {
    /// How often to try the lock, and the pause between tries: a sibling gets two seconds to decide. The kernel wakes only a
    /// blocked thread when another process releases a lock.
    private static let lockTries = 100
    private static let lockPause = Duration.milliseconds(20)

    /// Waits for the lock; `nil` if it cannot be had.
    private func lock() async throws -> TokenLock? {
        for _ in 0..<Self.lockTries {
            switch tryLock() {
            case .taken(let lock): return lock
            case .impossible: return nil
            case .busy: try await Task.sleep(for: Self.lockPause)
            }
        }
        logger.warning("token file is locked; continuing without it", metadata: metadata())
        return nil
    }

    private enum LockAttempt {
        case taken(TokenLock), busy, impossible
    }

    private func tryLock() -> LockAttempt {
        guard let file else { return .impossible }
        do throws(SystemError) {
            return try file.lock().map { .taken($0) } ?? .busy
        } catch {
            logger.warning("cannot lock token file; continuing without it", metadata: metadata("\(error)"))
            return .impossible
        }
    }

    /// Returns the token in memory, else the one in the file, else a new one. Does not suspend, so that only one
    /// decision is made at a time.
    private func next(at now: WallTime) throws -> ProviderToken {
        if let token = token(at: now) { return token }
        adoptFile(at: now)
        return try token(at: now) ?? sign(at: now, isReplacement: false)
    }

    /// Adopts the file's token if it is valid and not older than the one in memory.
    private func adoptFile(at now: WallTime) {
        switch file?.read() {
        case nil, .missing: return
        case .unusable(let reason):
            logger.warning("stored provider token is unusable and will be replaced", metadata: metadata(reason))
        case .token(let token, let isReplacement):
            var random = SystemRandomNumberGenerator()
            let schedule = TokenSchedule(issuedAt: token.issuedAt, isReplacement: isReplacement, using: &random)
            switch schedule.state(at: now) {
            case .current:
                held.withLock { held in
                    let isNews = held.map { $0.token != token && $0.token.issuedAt <= token.issuedAt } ?? true
                    if isNews { held = Held(token: token, schedule: schedule) }
                }
            case .fromFuture:
                let reason = "signed in the future; check this machine's clock"
                logger.warning("stored provider token is unusable and will be replaced", metadata: metadata(reason))
            case .due, .expired: return
            }
        }
    }

    private func sign(at now: WallTime, isReplacement: Bool) throws -> ProviderToken {
        do throws(TLSError) {
            let token = try key.sign(at: now)
            var random = SystemRandomNumberGenerator()
            let schedule = TokenSchedule(issuedAt: token.issuedAt, isReplacement: isReplacement, using: &random)
            held.withLock { $0 = Held(token: token, schedule: schedule) }
            signings.withLock { $0 += 1 }
            keep(token, isReplacement: isReplacement)
            return token
        } catch {
            throw GatewayFault("cannot sign a provider token with \(key): \(error.message)", hint: error.hint)
        }
    }

    private func keep(_ token: ProviderToken, isReplacement: Bool) {
        do throws(SystemError) {
            try file?.write(token, isReplacement: isReplacement)
        } catch {
            // This process can use the token all the same.
            logger.warning("cannot store provider token for the next start", metadata: metadata("\(error)"))
        }
    }

    private func metadata(_ error: String? = nil) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["key": "\(key)"]
        metadata["path"] = file.map { "\($0.path)" }
        metadata["error"] = error.map { "\($0)" }
        return metadata
    }
}

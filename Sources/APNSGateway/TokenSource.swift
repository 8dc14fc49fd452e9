package import APNSHTTP2
package import APNSModel
import LinuxIO
import Logging
import OpenSSL
import Synchronization

/// The provider tokens of one key: one at a time, for all connections of the process and of its siblings on the host.
///
/// Lives on a worker thread, because it reads and writes a small file now and then; `token(at:)` may be asked anywhere
/// and costs next to nothing. Never logs a token.
package actor TokenSource {
    /// What comes of a gateway's word that a token has expired.
    package enum Renewal: Sendable {
        /// Send again with this one, on a new connection.
        case token(ProviderToken)
        /// A token just signed was refused as well: the clock is wrong. Stop the app.
        case refused(GatewayFault)
    }

    /// What is held in memory.
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
    ///   - folder: Where tokens outlive the process; `nil`: nowhere.
    ///   - worker: The thread to block, which must outlive this.
    ///   - logger: Where files that are of no use are told.
    init(_ key: ProviderKey, folder: Directory?, worker: WorkerThread, logger: Logger) {
        self.key = key
        self.file = folder.map { TokenFile(of: key, in: $0) }
        self.worker = worker
        self.logger = logger
    }

    /// The worker's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// How many tokens this process has signed with the key.
    package nonisolated var signingCount: Int { signings.withLock { $0 } }

    /// The token to send with now, as far as it is at hand; `nil`: ask `current(at:)`.
    ///
    /// For any thread, before each write: it takes a lock for a moment, and nothing else.
    package nonisolated func token(at now: WallTime) -> ProviderToken? {
        held.withLock { held in held?.schedule.state(at: now) == .current ? held?.token : nil }
    }

    /// Returns the token to send with now: that at hand, one that a sibling or an earlier process has signed, or a new
    /// one.
    ///
    /// Takes milliseconds, and up to two seconds while a sibling hangs.
    ///
    /// - Throws: `GatewayFault` when nothing can be signed: try again later; `CancellationError`.
    package func current(at now: WallTime) async throws -> ProviderToken {
        if let token = token(at: now) { return token }
        let lock = try await lock()
        return try withExtendedLifetime(lock) { try next(at: now) }
    }

    /// Answers a gateway's word that `failed` has expired (`ExpiredProviderToken`) though its time is not over.
    ///
    /// Signs a new one, once: if that one is called expired too, within 20 minutes, there will be no other.
    ///
    /// - Throws: as `current(at:)`.
    package func renew(after failed: ProviderToken, at now: WallTime) async throws -> Renewal {
        let lock = try await lock()
        return try withExtendedLifetime(lock) {
            // Somebody may have renewed it meanwhile, here or in a sibling.
            adoptFile(at: now)
            guard let held = held.withLock({ $0 }), held.token == failed else { return .token(try next(at: now)) }
            guard held.schedule.allowsReplacement(at: now) else { return .refused(Self.wrongClock) }
            return .token(try sign(at: now, isReplacement: true))
        }
    }

    private static let wrongClock = GatewayFault(
        "the gateway calls a provider token expired that was just signed",
        hint: Reason.expiredProviderToken.hint)
}

extension TokenSource {
    /// How long a sibling may take to decide.
    private static let lockTries = 100
    private static let lockPause = Duration.milliseconds(20)

    /// Waits for the right to decide; `nil` where there is none to be had.
    private func lock() async throws -> TokenLock? {
        for _ in 0..<Self.lockTries {
            switch tryLock() {
            case .taken(let lock): return lock
            case .impossible: return nil
            case .busy: try await Task.sleep(for: Self.lockPause)
            }
        }
        logger.warning("token file stays locked, going on without it", metadata: metadata())
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
            logger.warning("token file cannot be locked, going on without it", metadata: metadata("\(error)"))
            return .impossible
        }
    }

    /// The token at hand, else the one in the file, else a new one. Does not suspend, so that one decision is taken at a
    /// time.
    private func next(at now: WallTime) throws -> ProviderToken {
        if let token = token(at: now) { return token }
        adoptFile(at: now)
        return try token(at: now) ?? sign(at: now, isReplacement: false)
    }

    /// Takes the token of the file over, if it is a good one and not older than that at hand.
    private func adoptFile(at now: WallTime) {
        switch file?.read() {
        case nil, .missing: return
        case .unusable(let reason):
            logger.warning("stored provider token is of no use and will be replaced", metadata: metadata(reason))
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
                logger.warning("stored provider token is of no use and will be replaced", metadata: metadata(reason))
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
            throw GatewayFault("no provider token can be signed with \(key): \(error.message)", hint: error.hint)
        }
    }

    private func keep(_ token: ProviderToken, isReplacement: Bool) {
        do throws(SystemError) {
            try file?.write(token, isReplacement: isReplacement)
        } catch {
            // It serves this process all the same.
            logger.warning("provider token cannot be stored for the next start", metadata: metadata("\(error)"))
        }
    }

    private func metadata(_ error: String? = nil) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["key": "\(key)"]
        metadata["path"] = file.map { "\($0.path)" }
        metadata["error"] = error.map { "\($0)" }
        return metadata
    }
}

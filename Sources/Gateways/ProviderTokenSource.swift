import APNSHTTP2
import LinuxIO
import Logging
import OpenSSL
package import PushModel
import Synchronization

/// The provider tokens of one key: one at a time, for all connections of this process and of its siblings on the host.
///
/// Runs on a worker thread, because it sometimes reads and writes a small file. `token(at:)` is cheap and works on any
/// thread. Never logs a token.
package actor ProviderTokenSource: TokenSource {
    /// The token in memory.
    private struct Held: Sendable {
        let token: ProviderToken
        let bearer: BearerToken
        let schedule: TokenSchedule

        init(_ stored: StoredProviderToken) {
            (token, bearer) = (stored.token, BearerToken(authorization: stored.token.authorization))
            var random = SystemRandomNumberGenerator()
            schedule = TokenSchedule(
                issuedAt: token.issuedAt, isReplacement: stored.isReplacement, using: &random)
        }
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
        self.file = folder.map(key.file)
        self.worker = worker
        self.logger = logger
    }

    /// The app's key signs the tokens.
    package nonisolated var isRemote: Bool { false }

    /// The worker's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// The number of tokens that this process has signed with the key.
    package nonisolated var signingCount: Int { signings.withLock { $0 } }

    package nonisolated func token(at now: WallTime) -> BearerToken? {
        held.withLock { held in held?.schedule.state(at: now) == .current ? held?.bearer : nil }
    }

    /// Returns the token to use now: the one in memory, one that a sibling or an earlier process signed, or a new one.
    ///
    /// Takes milliseconds, and up to two seconds while a sibling hangs.
    ///
    /// - Throws: `GatewayFault` when no token can be signed: try again later; `CancellationError`.
    package func current(at now: WallTime) async throws -> BearerToken {
        if let token = token(at: now) { return token }
        let lock = try await file?.waitForLock(logger, metadata())
        return try withExtendedLifetime(lock) { try next(at: now) }
    }

    /// Returns the token to use after a gateway's `ExpiredProviderToken` for `failed`, although its time has not run out.
    ///
    /// Signs one new token. If the gateway calls that one expired within 20 minutes too, keeps it: either the clock is
    /// wrong, or the gateway says so of a notification for whatever reason.
    ///
    /// - Throws: As `current(at:)`.
    package func renew(after failed: BearerToken, at now: WallTime) async throws -> BearerToken {
        let lock = try await file?.waitForLock(logger, metadata())
        return try withExtendedLifetime(lock) {
            // It may have been renewed in the meantime, here or in a sibling.
            adoptFile(at: now)
            guard let held = held.withLock({ $0 }), held.bearer == failed, held.schedule.allowsReplacement(at: now)
            else { return try next(at: now) }
            return try sign(at: now, isReplacement: true)
        }
    }
}

extension ProviderTokenSource {
    /// Returns the token in memory, else the one in the file, else a new one. Does not suspend, so that only one
    /// decision is made at a time.
    private func next(at now: WallTime) throws -> BearerToken {
        if let token = token(at: now) { return token }
        adoptFile(at: now)
        return try token(at: now) ?? sign(at: now, isReplacement: false)
    }

    /// Adopts the file's token if it is valid and not older than the one in memory.
    private func adoptFile(at now: WallTime) {
        switch file?.read() {
        case nil, .missing: return
        case .unusable(let reason): reportUnusable(reason)
        case .bytes(let bytes):
            do throws(StoredProviderToken.Unusable) {
                adopt(Held(try StoredProviderToken(bytes, of: key)), at: now)
            } catch {
                reportUnusable(error.reason)
            }
        }
    }

    private func adopt(_ stored: Held, at now: WallTime) {
        switch stored.schedule.state(at: now) {
        case .current:
            held.withLock { held in
                let isNews =
                    held.map { $0.token != stored.token && $0.token.issuedAt <= stored.token.issuedAt } ?? true
                if isNews { held = stored }
            }
        case .fromFuture: reportUnusable("signed in the future; check this machine's clock")
        case .due, .expired: return
        }
    }

    private func reportUnusable(_ reason: String) {
        logger.warning("stored provider token is unusable and will be replaced", metadata: metadata(reason))
    }

    private func sign(at now: WallTime, isReplacement: Bool) throws -> BearerToken {
        do throws(TLSError) {
            let new = Held(StoredProviderToken(try key.sign(at: now), isReplacement: isReplacement))
            held.withLock { $0 = new }
            signings.withLock { $0 += 1 }
            keep(StoredProviderToken(new.token, isReplacement: isReplacement))
            return new.bearer
        } catch {
            throw GatewayFault("cannot sign a provider token with \(key): \(error.message)", hint: error.hint)
        }
    }

    private func keep(_ token: StoredProviderToken) {
        do throws(SystemError) {
            try file?.write(token.bytes)
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

import FCMHTTP2
import HTTP2
import JSON
import LinuxIO
import Logging
import OpenSSL
package import PushModel
import ServiceProcess
import Synchronization

/// The access tokens of one service account: one at a time, for all connections of this process and of its siblings on the
/// host.
///
/// Runs on a worker thread, because it signs, and reads and writes a small file. `token(at:)` is cheap and works on any
/// thread. Never logs a token.
package actor AccessTokenSource: TokenSource {
    /// Sends a request to the token endpoint, and returns status and body of the answer.
    typealias Ask = @Sendable (RequestHead, [UInt8]) async throws -> (status: Int, body: ArraySlice<UInt8>)

    /// The token in memory.
    private struct Held: Sendable {
        let token: AccessToken
        let bearer: BearerToken
        /// Whether anybody asked for it. Only tokens in use are replaced before they expire.
        var isUsed = false

        init(_ token: AccessToken) {
            (self.token, bearer) = (token, BearerToken(authorization: token.authorization))
        }
    }

    /// What the endpoint's failures since the last token mean for the next request.
    private struct Failure {
        var count = 0
        var nextTry = Moment.zero
        var error: any Error & Sendable
    }

    /// The key that it signs with.
    package nonisolated let key: ServiceAccountKey

    private nonisolated let held = Mutex<Held?>(nil)
    private nonisolated let fetches = Mutex(0)
    private let ask: Ask
    private let worker: WorkerThread
    private let file: TokenFile?
    private let logger: Logger
    /// The pauses between requests that fail, whatever the reason.
    private let backOff = BackOff.ofConnects()
    private var failure: Failure?
    /// A token that a gateway has called invalid, which is not adopted from the file again.
    private var discarded: AccessToken?
    /// Whether a task chooses the next token; the others wait for it.
    private var isChoosing = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var parser = JSON.Parser()

    /// Creates the source of an account.
    ///
    /// - Parameters:
    ///   - key: The account's key.
    ///   - file: The file that keeps its tokens across restarts; `nil` keeps them in memory only.
    ///   - worker: The thread to block, which must outlive this source, and the logger that reports tokens and unusable files.
    ///   - ask: Sends a request to the account's token endpoint.
    init(
        _ key: ServiceAccountKey, keptIn file: TokenFile?, on worker: (WorkerThread, Logger), ask: @escaping Ask
    ) {
        (self.key, self.file, self.ask) = (key, file, ask)
        (self.worker, self.logger) = worker
    }

    /// The worker's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// The token endpoint gives the tokens.
    package nonisolated var isRemote: Bool { true }

    /// The number of tokens that this process was given.
    package nonisolated var fetchCount: Int { fetches.withLock { $0 } }

    /// Returns the token in memory if it has not expired, also when the next one is due: `renewIfDue(at:)` gets that one
    /// while requests go on.
    package nonisolated func token(at now: WallTime) -> BearerToken? {
        held.withLock { held in
            switch held?.token.state(at: now) {
            case nil, .expired, .fromFuture: return nil
            case .current, .due:
                held?.isUsed = true
                return held?.bearer
            }
        }
    }

    /// Returns the token to use now: the one in memory, one that a sibling or an earlier process got, or a new one.
    ///
    /// Takes as long as the endpoint's answer, at most the time for connecting and answering. After a failure, fails at once
    /// until it is time to ask again.
    ///
    /// - Throws: `AccountRefusal` if the endpoint refuses the account: stop the app. `GatewayFault` if there is no answer, or
    ///   none that counts: try again later. `CancellationError`.
    package func current(at now: WallTime) async throws -> BearerToken {
        while true {
            if let token = token(at: now) { return token }
            if try await choose(at: now) { continue }
        }
    }

    /// Returns the token to use after a gateway called `failed` invalid.
    ///
    /// Gets one new token. If `failed` is less than a minute old, another one would be refused too.
    ///
    /// - Throws: As `current(at:)`.
    package func renew(after failed: BearerToken, at now: WallTime) async throws -> BearerToken {
        if let old = held.withLock({ $0 }), old.bearer == failed {
            guard !old.token.isFresh(at: now) else {
                throw AccountRefusal(
                    fault: GatewayFault(
                        "the gateway refuses an access token of \(key) that is less than a minute old",
                        hint: "check this machine's clock, and that the Firebase Cloud Messaging API is enabled for the"
                            + " project"))
            }
            discarded = old.token
            held.withLock { if $0?.bearer == failed { $0 = nil } }
        }
        return try await current(at: now)
    }

    /// Gets the next token if it is due and the current one is in use. Logs failures; the current one is valid for some
    /// minutes more.
    func renewIfDue(at now: WallTime) async {
        let isDue = held.withLock { $0.map { $0.isUsed && $0.token.state(at: now) == .due } ?? false }
        guard isDue, !isChoosing, failure.map({ $0.nextTry <= .now }) ?? true else { return }
        do {
            _ = try await choose(at: now)
        } catch is CancellationError {
            return
        } catch {
            logger.warning("cannot renew access token", metadata: metadata(Self.message(of: error)))
        }
    }
}

extension AccessTokenSource {
    /// Chooses the next token, or waits until another task has. Returns `false` if it waited.
    private func choose(at now: WallTime) async throws -> Bool {
        guard !isChoosing else {
            await withCheckedContinuation { waiters.append($0) }
            try Task.checkCancellation()
            return false
        }
        if let failure, failure.nextTry > .now { throw failure.error }
        isChoosing = true
        defer {
            isChoosing = false
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
        let lock = try await file?.waitForLock(logger, metadata())
        defer { withExtendedLifetime(lock) {} }
        if !adoptFile(at: now) { hold(try await fetch(at: now)) }
        failure = nil
        return true
    }

    /// Adopts the file's token if it is worth using and newer than the one in memory. Returns whether it did.
    private func adoptFile(at now: WallTime) -> Bool {
        switch file?.read() {
        case nil, .missing: return false
        case .unusable(let reason):
            reportUnusable(reason)
            return false
        case .bytes(let bytes):
            var random = SystemRandomNumberGenerator()
            guard let token = AccessToken(stored: bytes, using: &random) else {
                reportUnusable("truncated, or not a token")
                return false
            }
            let isKnown = token.text == discarded?.text || held.withLock { $0?.token.text == token.text }
            guard !isKnown, token.isWorthUsing(at: now) else { return false }
            held.withLock { $0 = Held(token) }
            return true
        }
    }

    /// Asks the endpoint for a token.
    private func fetch(at now: WallTime) async throws -> AccessToken {
        do {
            let request = AccessTokenRequest(for: key.account, at: now)
            let body = try key.body(of: request)
            let head = request.head(bodyByteCount: body.count)
            let (status, answer) = try await ask(head, body)
            return try token(in: AccessTokenReply(status: status, body: answer, parser: &parser), at: now)
        } catch let error as CancellationError {
            throw error
        } catch let error as TLSError {
            throw note(GatewayFault("cannot sign for \(key): \(error.message)", hint: error.hint))
        } catch let refusal as AccountRefusal {
            throw note(refusal)
        } catch let fault as GatewayFault {
            throw note(GatewayFault("no access token for \(key): \(fault.message)", hint: fault.hint))
        }
    }

    private func token(in reply: AccessTokenReply, at now: WallTime) throws -> AccessToken {
        switch reply {
        case .granted(let text, let lifetime):
            var random = SystemRandomNumberGenerator()
            let token = AccessToken(text, fetchedAt: now.epochSeconds, lifetime: lifetime, using: &random)
            guard let token else { throw GatewayFault("the token endpoint's answer has no usable token") }
            return token
        case .failed(let message):
            throw GatewayFault("the token endpoint answered with \(message)", hint: "check proxy: and token_gateway:")
        case .refused(let refusal):
            throw AccountRefusal(
                fault: GatewayFault("no access token for \(key): \(refusal.message)", hint: refusal.hint))
        }
    }

    /// Remembers a failure, so that nobody asks again before its pause ends. Returns it.
    private func note<Failed: Error & Sendable>(_ error: Failed) -> Failed {
        var random = SystemRandomNumberGenerator()
        let count = (failure?.count ?? 0) + 1
        failure = Failure(count: count, nextTry: .now + backOff.pause(after: count, using: &random), error: error)
        return error
    }

    /// Takes a new token, and stores it.
    private func hold(_ token: AccessToken) {
        held.withLock { $0 = Held(token) }
        fetches.withLock { $0 += 1 }
        logger.info("access token fetched", metadata: metadata())
        do throws(SystemError) {
            try file?.write(token.stored)
        } catch {
            // This process can use the token all the same.
            logger.warning("cannot store access token for the next start", metadata: metadata("\(error)"))
        }
    }

    private func reportUnusable(_ reason: String) {
        logger.warning("stored access token is unusable and will be replaced", metadata: metadata(reason))
    }

    private static func message(of error: any Error) -> String {
        switch error {
        case let refusal as AccountRefusal: refusal.fault.message
        case let fault as GatewayFault: fault.message
        default: "\(error)"
        }
    }

    private func metadata(_ error: String? = nil) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["key": "\(key)"]
        metadata["path"] = file.map { "\($0.path)" }
        metadata["error"] = error.map { "\($0)" }
        return metadata
    }
}

import FCMHTTP2
package import LinuxIO
package import Logging
import PushModel
import ServiceProcess
import Synchronization

/// The token sources of the process: one per key, however many apps use it.
package final class TokenSources: Sendable {
    /// Identifies the access tokens of an account that are fetched in one way.
    private struct AccountAccess: Hashable {
        let account: ServiceAccount
        let fingerprint: [UInt8]
        let access: TokenEndpoint.Access
    }

    private let keys = Mutex<[ProviderKey.ID: ProviderTokenSource]>([:])
    private let accounts = Mutex<[AccountAccess: AccessTokenSource]>([:])
    private let folder: Directory?
    let worker: WorkerThread
    private let reactor: Reactor
    private let logger: Logger

    /// Creates an empty set.
    ///
    /// - Parameters:
    ///   - folder: The folder that keeps tokens across restarts, as `openFolder(in:)` returns it; `nil` keeps them in
    ///     memory only.
    ///   - worker: The thread for their files, which must outlive all sources.
    ///   - reactor: The reactor for requests for access tokens.
    ///   - logger: Reports unusable files.
    package init(folder: Directory?, worker: WorkerThread, reactor: Reactor, logger: Logger) {
        self.folder = folder
        self.worker = worker
        self.reactor = reactor
        self.logger = logger
    }

    /// Returns the source of a key: the same one for the same key under the same names. It is kept as long as this set.
    package func source(of key: ProviderKey) -> ProviderTokenSource {
        keys.withLock { sources in
            if let source = sources[key.id] { return source }
            let source = ProviderTokenSource(key, folder: folder, worker: worker, logger: logger)
            sources[key.id] = source
            return source
        }
    }

    /// Returns the source of a service account: the same one for the same key and the same way to the endpoint. It is kept as
    /// long as this set. Sources of one account share a file.
    package func source(of key: ServiceAccountKey, through access: TokenEndpoint.Access) -> AccessTokenSource {
        let id = AccountAccess(account: key.account, fingerprint: key.fingerprint, access: access)
        return accounts.withLock { sources in
            if let source = sources[id] { return source }
            let endpoint = TokenEndpoint(access, on: reactor)
            let source = AccessTokenSource(key, keptIn: folder.map(key.file), on: (worker, logger)) { head, body in
                try await endpoint.answer(to: head, body: body)
            }
            sources[id] = source
            return source
        }
    }

    /// How often to look for access tokens that are to be renewed. They are due minutes before they expire.
    private static let renewalPause = Duration.seconds(30)

    /// Renews access tokens in use while requests go on with the current ones, until the task is cancelled.
    package func runRenewals() async {
        while !Task.isCancelled {
            let sources = accounts.withLock { Array($0.values) }
            await withDiscardingTaskGroup { group in
                for source in sources { group.addTask { await source.renewIfDue(at: .now) } }
            }
            do {
                try await reactor.sleep(for: Self.renewalPause)
            } catch {
                return
            }
        }
    }

    /// Opens `tokens/` in the daemon's state folder, and creates it with mode 0700, for the daemon alone. Blocks.
    ///
    /// - Throws: `SystemError` if it cannot be created or has another owner. Continue without a folder, and log that.
    package static func openFolder(in state: Directory) throws(SystemError) -> Directory {
        let folder = try state.makeChild(Array("tokens".utf8), mode: 0o700)
        if try folder.status().mode != 0o700 { try folder.setMode(0o700) }
        return folder
    }
}

package import LinuxIO
package import Logging
import Synchronization

/// The token sources of the process: one per key, however many apps use it.
package final class TokenSources: Sendable {
    private let sources = Mutex<[ProviderKey.ID: TokenSource]>([:])
    private let folder: Directory?
    let worker: WorkerThread
    private let logger: Logger

    /// Creates an empty set.
    ///
    /// - Parameters:
    ///   - folder: The folder that keeps tokens across restarts, as `openFolder(in:)` returns it; `nil` keeps them in
    ///     memory only.
    ///   - worker: The thread for their files, which must outlive all sources.
    ///   - logger: Reports unusable files.
    package init(folder: Directory?, worker: WorkerThread, logger: Logger) {
        self.folder = folder
        self.worker = worker
        self.logger = logger
    }

    /// Returns the source of a key: the same one for the same key under the same names. It is kept as long as this set.
    package func source(of key: ProviderKey) -> TokenSource {
        sources.withLock { sources in
            if let source = sources[key.id] { return source }
            let source = TokenSource(key, folder: folder, worker: worker, logger: logger)
            sources[key.id] = source
            return source
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

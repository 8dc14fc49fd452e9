package import LinuxIO
package import Logging
import Synchronization

/// The token sources of the process: one a key, however many apps use it.
package final class TokenSources: Sendable {
    private let sources = Mutex<[ProviderKey.ID: TokenSource]>([:])
    private let folder: Directory?
    private let worker: WorkerThread
    private let logger: Logger

    /// Creates an empty set.
    ///
    /// - Parameters:
    ///   - folder: Where tokens outlive the process, as `openFolder(in:)` returns it; `nil`: nowhere.
    ///   - worker: The thread for their files, which must outlive all sources.
    ///   - logger: Where files that are of no use are told.
    package init(folder: Directory?, worker: WorkerThread, logger: Logger) {
        self.folder = folder
        self.worker = worker
        self.logger = logger
    }

    /// The source of a key. The same one for the same key under the same names; it is kept as long as this set.
    package func source(of key: ProviderKey) -> TokenSource {
        sources.withLock { sources in
            if let source = sources[key.id] { return source }
            let source = TokenSource(key, folder: folder, worker: worker, logger: logger)
            sources[key.id] = source
            return source
        }
    }

    /// Opens `tokens/` in the daemon's state folder, and makes it, for the daemon alone (mode 0700). Blocks.
    ///
    /// - Throws: `SystemError`: it cannot be made, or is somebody else's. Go on without a folder, and say so.
    package static func openFolder(in state: Directory) throws(SystemError) -> Directory {
        let folder = try state.makeChild(Array("tokens".utf8), mode: 0o700)
        if try folder.status().mode != 0o700 { try folder.setMode(0o700) }
        return folder
    }
}

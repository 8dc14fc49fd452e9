import LinuxIO
import Logging

/// A file that keeps a token across restarts and shares it with other processes on the host.
///
/// Its mode is 0600. It is replaced by rename, under the lock of the file with `.lock` appended to its name. All calls
/// block: use a worker thread.
struct TokenFile: Sendable {
    /// The content of the file.
    enum Content: Sendable {
        /// The file does not exist yet.
        case missing
        /// These bytes.
        case bytes([UInt8])
        /// The file cannot be read, for this reason.
        case unusable(String)
    }

    private let folder: Directory
    private let name: String
    private let byteLimit: Int

    /// Creates the file `name` in `folder`, which only the daemon may access. A longer one than `byteLimit` is not read.
    init(_ name: String, in folder: Directory, byteLimit: Int) {
        (self.name, self.folder, self.byteLimit) = (name, folder, byteLimit)
    }

    /// The file's path, for messages.
    var path: String { folder.path + "/" + name }

    /// Reads the file.
    func read() -> Content {
        do throws(SystemError) {
            return try folder.contents(of: Array(name.utf8), limit: byteLimit).map { .bytes($0) }
                ?? .unusable("too long")
        } catch {
            return error.isNotFound ? .missing : .unusable("\(error)")
        }
    }

    /// Replaces the file atomically. A crash leaves the complete old file or the complete new one.
    ///
    /// - Throws: `SystemError` if the volume is full or not writable. The old file is still there.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        // Only the holder of the lock writes it.
        let temporary = Array((name + ".new").utf8)
        try folder.replace(Array(name.utf8), by: temporary, mode: 0o600) { (file) throws(SystemError) in
            try file.write(bytes)
            // Sync the bytes before the rename. The rename may be lost in a power failure: an older token remains, and
            // ages out.
            try file.syncData(.tokenFile)
        }
    }
}

extension TokenFile {
    /// How often to try the lock, and the pause between tries: a sibling gets two seconds to decide. The kernel wakes only a
    /// blocked thread when another process releases a lock.
    private static let lockTries = 100
    private static let lockPause = Duration.milliseconds(20)

    /// Waits for the lock for choosing the next token, up to two seconds. Logs why it cannot be had.
    ///
    /// - Returns: `nil` if it cannot be had; continue without it.
    /// - Throws: `CancellationError`.
    func waitForLock(_ logger: Logger, _ metadata: Logger.Metadata) async throws -> TokenLock? {
        do {
            for _ in 0..<Self.lockTries {
                if let lock = try lock() { return lock }
                try await Task.sleep(for: Self.lockPause)
            }
            logger.warning("token file is locked; continuing without it", metadata: metadata)
        } catch let error as SystemError {
            let metadata = metadata.merging(["error": "\(error)"]) { $1 }
            logger.warning("cannot lock token file; continuing without it", metadata: metadata)
        }
        return nil
    }

    /// Takes the lock if it is free.
    ///
    /// - Returns: `nil` while another holder, in this process or another, has the lock.
    /// - Throws: `SystemError` if the folder is not writable or does not support locks.
    private func lock() throws(SystemError) -> TokenLock? {
        let file = try folder.openForWriting(Array((name + ".lock").utf8), mode: 0o600)
        return try TokenLock(file)
    }
}

/// The lock for choosing the next token, held until this object is released.
final class TokenLock: Sendable {
    private let file: OpenFile

    init?(_ file: consuming OpenFile) throws(SystemError) {
        guard try file.lock() else { return nil }
        self.file = file
    }
}

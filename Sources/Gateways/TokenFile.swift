import APNSHTTP2
import JSON
import LinuxIO

/// The file that keeps the token of one key across restarts and shares it with other processes on the host.
///
/// Its name is `<key id>-<team id>-<8 digits of the key's fingerprint>.jwt`, its mode 0600. It holds a line with the
/// token and, if a gateway called the previous token expired, a line `replacement`. The signature proves that the token
/// is this key's, so the file needs no other check. It is replaced by rename, under the lock of the file with `.lock`
/// appended to its name. All calls block: use a worker thread.
struct TokenFile: Sendable {
    /// The content of the file.
    enum Content: Sendable {
        /// The file does not exist yet.
        case missing
        /// A token of this key, of any age.
        case token(ProviderToken, isReplacement: Bool)
        /// Any other content. The reason quotes nothing of it.
        case unusable(String)
    }

    private let folder: Directory
    private let name: String
    private let key: ProviderKey

    /// Creates the file for `key` in `folder`, which only the daemon may access.
    init(of key: ProviderKey, in folder: Directory) {
        let digits = key.id.fingerprint.prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        self.folder = folder
        self.name = "\(key.identity.keyID)-\(key.identity.teamID)-\(digits.joined()).jwt"
        self.key = key
    }

    /// The file's path, for messages.
    var path: String { folder.path + "/" + name }

    /// The longest file that is read.
    private static let byteLimit = ProviderToken.byteLimit + 64
    private static let mark = "replacement"

    /// Reads the file. Whether its token is still usable depends on the token's time.
    func read() -> Content {
        do throws(SystemError) {
            guard let bytes = try folder.contents(of: Array(name.utf8), limit: Self.byteLimit) else {
                return .unusable("too long")
            }
            return parse(bytes)
        } catch {
            return error.isNotFound ? .missing : .unusable("\(error)")
        }
    }

    private func parse(_ bytes: [UInt8]) -> Content {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var parser = JSON.Parser()
        guard bytes.last == UInt8(ascii: "\n"), let signed = ProviderToken.parse(lines[0], parser: &parser) else {
            return .unusable("truncated, or not a token")
        }
        guard key.hasSigned(signed) else { return .unusable("signed with another key") }
        return .token(signed.token, isReplacement: lines[1].elementsEqual(Self.mark.utf8))
    }

    /// Replaces the file atomically. A crash leaves the complete old file or the complete new one.
    ///
    /// - Throws: `SystemError` if the volume is full or not writable. The old file is still there.
    func write(_ token: ProviderToken, isReplacement: Bool) throws(SystemError) {
        // Only the holder of the lock writes it.
        let temporary = Array((name + ".new").utf8)
        try folder.replace(Array(name.utf8), by: temporary, mode: 0o600) { (file) throws(SystemError) in
            try file.write(Array("\(token.text)\n\(isReplacement ? Self.mark + "\n" : "")".utf8))
            // Sync the bytes before the rename. The rename may be lost in a power failure: an older token remains, and
            // ages out.
            try file.syncData(.tokenFile)
        }
    }

    /// Takes the lock for choosing the next token, if it is free.
    ///
    /// - Returns: `nil` while another holder, in this process or another, has the lock.
    /// - Throws: `SystemError` if the folder is not writable or does not support locks.
    func lock() throws(SystemError) -> TokenLock? {
        let file = try folder.openForWriting(Array((name + ".lock").utf8), mode: 0o600)
        return try TokenLock(file)
    }
}

/// The lock for choosing the next token of a key, held until this object is released.
final class TokenLock: Sendable {
    private let file: OpenFile

    init?(_ file: consuming OpenFile) throws(SystemError) {
        guard try file.lock() else { return nil }
        self.file = file
    }
}

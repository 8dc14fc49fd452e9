import APNSHTTP2
import JSON
import LinuxIO

/// Where the token of one key outlives the process and is shared with others on the host.
///
/// `<key id>-<team id>-<8 digits of the key's fingerprint>.jwt`, mode 0600: a line with the token and, if a gateway had
/// called the one before it expired, a line `replacement`. Its signature proves that it is this key's, so nothing else
/// needs to be kept with it. Replaced by renaming, under the lock of the file with `.lock` behind its name. All calls
/// block: they are for a worker thread.
struct TokenFile: Sendable {
    /// What is in the file.
    enum Content: Sendable {
        /// No file yet.
        case missing
        /// A token of this key, of whatever time.
        case token(ProviderToken, isReplacement: Bool)
        /// Something else, in words that hold nothing of it.
        case unusable(String)
    }

    private let folder: Directory
    private let name: String
    private let key: ProviderKey

    /// The file for `key` in `folder`, which belongs to the daemon alone.
    init(of key: ProviderKey, in folder: Directory) {
        let digits = key.id.fingerprint.prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        self.folder = folder
        self.name = "\(key.identity.keyID)-\(key.identity.teamID)-\(digits.joined()).jwt"
        self.key = key
    }

    /// The file's path, for messages.
    var path: String { folder.path + "/" + name }

    /// The longest file that is looked at.
    private static let byteLimit = ProviderToken.byteLimit + 64
    private static let mark = "replacement"

    /// Reads the file. What it is worth now is for its token's time to say.
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
            return .unusable("cut, or no token")
        }
        guard key.hasSigned(signed) else { return .unusable("of another key") }
        return .token(signed.token, isReplacement: lines[1].elementsEqual(Self.mark.utf8))
    }

    /// Replaces the file in one step. What a crash leaves is the old file or the new one, whole.
    ///
    /// - Throws: `SystemError`: the volume is full, or may not be written to. The old file is still there.
    func write(_ token: ProviderToken, isReplacement: Bool) throws(SystemError) {
        let (temporary, final) = (Array((name + ".new").utf8), Array(name.utf8))
        // Left by a crash; nobody else writes under the lock.
        try folder.unlink(temporary)
        let file = try folder.create(temporary, mode: 0o600)
        try file.write(Array("\(token.text)\n\(isReplacement ? Self.mark + "\n" : "")".utf8))
        // Bytes before name. The name itself may be lost with the power: then an older token is there, and ages out.
        try file.syncData(.tokenFile)
        try folder.rename(temporary, to: folder, replacing: final)
    }

    /// Takes the right to decide which token is the next, if nobody has it.
    ///
    /// - Returns: `nil` while somebody has it, in this process or another.
    /// - Throws: `SystemError`: the folder cannot be written to, or knows no locks.
    func lock() throws(SystemError) -> TokenLock? {
        let file = try folder.openForWriting(Array((name + ".lock").utf8), mode: 0o600)
        return try TokenLock(file)
    }
}

/// The right to decide which token of a key is the next, held until this object goes.
final class TokenLock: Sendable {
    private let file: OpenFile

    init?(_ file: consuming OpenFile) throws(SystemError) {
        guard try file.lock() else { return nil }
        self.file = file
    }
}

import LinuxIO
import OpenSSL

/// A key that signs provider tokens, as the gateway knows it.
public struct RegisteredKey: Sendable, Hashable {
    /// The `kid` of its tokens.
    public let keyID: String
    /// The `iss` of its tokens.
    public let teamID: String
    /// The public half, as PEM text.
    public let publicKey: [UInt8]
    /// The apps it may push for, by bundle id, with all their suffixes; empty: any.
    public var topics: Set<String>

    /// Registers a key by its public half.
    public init(keyID: String, teamID: String, publicKey: [UInt8], topics: Set<String> = []) {
        self.keyID = keyID
        self.teamID = teamID
        self.publicKey = publicKey
        self.topics = topics
    }

    /// Registers a key by its private half, which is not kept: PEM text as in Apple's `.p8` files.
    ///
    /// - Throws: `SimulatorFault`: the text is no such key.
    public init(keyID: String, teamID: String, privateKey: [UInt8], topics: Set<String> = []) throws {
        let publicKey = try SimulatorFault.wrapping { try ES256Signer(p8: privateKey).publicKeyPEM() }
        self.init(keyID: keyID, teamID: teamID, publicKey: publicKey, topics: topics)
    }

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - keyID: Ten letters and digits.
    ///   - teamID: Ten letters and digits.
    ///   - topics: The apps it may push for; empty: any.
    /// - Returns: The key, and its private half as in Apple's `.p8` files.
    /// - Throws: `SimulatorFault`: memory is out.
    public static func throwaway(
        keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ", topics: Set<String> = []
    ) throws -> (key: RegisteredKey, privateKey: [UInt8]) {
        let made = try SimulatorFault.wrapping { try ThrowawayTokenKey() }
        return (RegisteredKey(keyID: keyID, teamID: teamID, publicKey: made.publicKeyPEM, topics: topics), made.p8)
    }

    /// Makes a key and writes its private half into a directory, as `AuthKey_<keyID>.p8`, for its owner only. Blocks.
    ///
    /// - Parameters:
    ///   - directory: Must be there.
    ///   - keyID: Ten letters and digits.
    ///   - teamID: Ten letters and digits.
    /// - Returns: The key.
    /// - Throws: `SimulatorFault`: the file is there already, or the directory cannot be written.
    public static func making(
        in directory: String, keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ"
    ) throws -> RegisteredKey {
        let (key, privateKey) = try throwaway(keyID: keyID, teamID: teamID)
        try SimulatorFault.wrapping {
            try Directory.open(path: directory).create(Array("AuthKey_\(keyID).p8".utf8), mode: 0o600).write(privateKey)
        }
        return key
    }
}

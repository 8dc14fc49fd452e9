import LinuxIO
import OpenSSL

/// A registered key for signing provider tokens, as the gateway knows it.
public struct RegisteredKey: Sendable, Hashable {
    /// The `kid` of its tokens.
    public let keyID: String
    /// The `iss` of its tokens.
    public let teamID: String
    /// The public key, as PEM text.
    public let publicKey: [UInt8]
    /// The bundle ids of the apps that it may push for, which include all their suffixed topics; if empty, any app.
    public var topics: Set<String>

    /// Registers a key by its public key.
    public init(keyID: String, teamID: String, publicKey: [UInt8], topics: Set<String> = []) {
        self.keyID = keyID
        self.teamID = teamID
        self.publicKey = publicKey
        self.topics = topics
    }

    /// Registers a key by its private key, which is not stored: PEM text as in Apple's `.p8` files.
    ///
    /// - Throws: `SimulatorFault` if the text is not a valid key.
    public init(keyID: String, teamID: String, privateKey: [UInt8], topics: Set<String> = []) throws {
        let publicKey = try SimulatorFault.wrapping { try ES256Signer(p8: privateKey).publicKeyPEM() }
        self.init(keyID: keyID, teamID: teamID, publicKey: publicKey, topics: topics)
    }

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - keyID: Ten letters and digits.
    ///   - teamID: Ten letters and digits.
    ///   - topics: The apps that it may push for; if empty, any app.
    /// - Returns: The key, and its private key as in Apple's `.p8` files.
    /// - Throws: `SimulatorFault` if there is not enough memory.
    public static func throwaway(
        keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ", topics: Set<String> = []
    ) throws -> (key: RegisteredKey, privateKey: [UInt8]) {
        let made = try SimulatorFault.wrapping { try ThrowawayTokenKey() }
        return (RegisteredKey(keyID: keyID, teamID: teamID, publicKey: made.publicKeyPEM, topics: topics), made.p8)
    }

    /// Creates a key and writes its private key to `AuthKey_<keyID>.p8` in a directory, readable only by its owner. Blocks.
    ///
    /// - Parameters:
    ///   - directory: The directory, which must exist.
    ///   - keyID: Ten letters and digits.
    ///   - teamID: Ten letters and digits.
    /// - Returns: The key.
    /// - Throws: `SimulatorFault` if the file exists or the directory cannot be written.
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

import Document
import FCMServing
import JSON
import LinuxIO
import OpenSSL

/// A Firebase project of a simulated gateway, and the service account that sends for it.
public struct FCMProject: Sendable, Hashable {
    /// The project id, which stands in the path of requests.
    public let id: String
    /// The project number, which may stand there instead.
    public let number: Int
    /// The e-mail address of the service account: the `iss` of its assertions.
    public let clientEmail: String
    /// The id of the account's key: the `kid` of its assertions.
    public let keyID: String
    /// The public half of the key, as PEM text.
    public let publicKey: [UInt8]
    /// Whether the Firebase Cloud Messaging API is enabled in the project; otherwise 403 `SERVICE_DISABLED`.
    public var isAPIEnabled = true
    /// Whether the account has the permission `cloudmessaging.messages.create`; otherwise 403 `IAM_PERMISSION_DENIED`.
    public var maySend = true

    /// The URL of Google's token endpoint: the `token_uri` of an account's file and the `aud` of its assertions.
    public static let tokenURI = "https://oauth2.googleapis.com/token"

    /// Creates a project with a service account and its key.
    ///
    /// - Parameters:
    ///   - id: The project id.
    ///   - number: The project number.
    /// - Returns: The project, and the account's file in Google's form. It contains the private key.
    /// - Throws: `SimulatorFault` if there is not enough memory.
    public static func throwaway(
        id: String = "weather-4711", number: Int = 471_147_114_711
    ) throws -> (project: FCMProject, serviceAccount: [UInt8]) {
        let key = try SimulatorFault.wrapping { try ThrowawayRSAKey() }
        let keyID = String { $0.appendHexadecimal(Digest.sha256(key.publicKeyPEM.span).prefix(20)) }
        let project = FCMProject(
            id: id, number: number, clientEmail: "sender@\(id).iam.gserviceaccount.com", keyID: keyID,
            publicKey: key.publicKeyPEM)
        return (project, project.serviceAccount(key: key.privateKeyPEM))
    }

    /// Creates a project and writes its account's file to a directory, readable only by its owner. Blocks.
    ///
    /// - Parameters:
    ///   - path: The file, which must not exist.
    ///   - id: The project id.
    /// - Returns: The project.
    /// - Throws: `SimulatorFault` if the file exists or its directory cannot be written.
    public static func making(_ path: String, id: String = "weather-4711") throws -> FCMProject {
        let (project, serviceAccount) = try throwaway(id: id)
        try SimulatorFault.wrapping {
            let place = FilePlace(path)
            try Directory.open(path: place.directory).create(place.nameBytes, mode: 0o600).write(serviceAccount)
        }
        return project
    }

    /// The account's file, with the members that Google writes.
    private func serviceAccount(key: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("type", "service_account")
        writer.member("project_id", id)
        writer.member("private_key_id", keyID)
        writer.member("private_key", String(decoding: key, as: UTF8.self))
        writer.member("client_email", clientEmail)
        writer.member("client_id", "104711471147114711471")
        writer.member("auth_uri", "https://accounts.google.com/o/oauth2/auth")
        writer.member("token_uri", Self.tokenURI)
        writer.member("auth_provider_x509_cert_url", "https://www.googleapis.com/oauth2/v1/certs")
        writer.member("client_x509_cert_url", "https://www.googleapis.com/robot/v1/metadata/x509/\(clientEmail)")
        writer.member("universe_domain", "googleapis.com")
        writer.endObject()
        return IndentedJSON.bytes(ofCompact: writer.bytes)
    }
}

extension FCMProject {
    /// Reads a project from its account's file, whose private key is not stored.
    ///
    /// - Parameters:
    ///   - serviceAccount: The file's content.
    ///   - number: The project number, which the file does not contain.
    /// - Throws: `SimulatorFault` if it is not the file of a service account.
    public init(serviceAccount: [UInt8], number: Int = 471_147_114_711) throws {
        self = try SimulatorFault.wrapping {
            var parser = JSON.Parser()
            let root = try parser.parse(serviceAccount).root
            func text(_ name: String) throws(SimulatorFault) -> String {
                guard let text = root[name]?.string else {
                    throw SimulatorFault("the file of the service account has no text \(name)")
                }
                return text
            }
            return FCMProject(
                id: try text("project_id"), number: number, clientEmail: try text("client_email"),
                keyID: try text("private_key_id"),
                publicKey: try RS256Signer(pem: Array(text("private_key").utf8)).publicKeyPEM())
        }
    }
}

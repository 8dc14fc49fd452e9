import GatewaySimulator

/// The keys of the demo's apps, and what the gateway knows of them.
struct DemoCredentials {
    /// The key for provider tokens.
    let key: RegisteredKey
    /// Its private half, as in Apple's `.p8` files.
    let privateKey: [UInt8]
    /// The project at FCM.
    let project: FCMProject
    /// The file of its service account.
    let serviceAccount: [UInt8]

    /// The name of that file in the demo's folder.
    static let serviceAccountName = "service-account.json"

    /// Creates all keys.
    ///
    /// - Throws: `SimulatorFault` if there is not enough memory.
    init() throws {
        (key, privateKey) = try RegisteredKey.throwaway()
        (project, serviceAccount) = try FCMProject.throwaway()
    }

    /// The name of the private key's file in the demo's folder.
    var keyName: String { "AuthKey_\(key.keyID).p8" }
}

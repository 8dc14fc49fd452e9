import Foundation

/// The files of an app that identifies itself with provider tokens, below a folder that has `etc/` and `certificates/`.
package enum TokenApp {
    /// Writes the key that the tokens are signed with to `etc/key.p8`, for its owner alone.
    ///
    /// - Throws: What Foundation throws if the file cannot be written.
    package static func keep(_ key: [UInt8], in home: String) throws {
        let file = home + "/etc/key.p8"
        try Data(key).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    /// The content of the app's file, for a gateway on this port.
    package static func file(home: String, port: Int) -> String {
        """
        protocol: http2
        environment: sandbox
        topic: com.example.weather
        credentials: {token: {key: \(home)/etc/key.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}
        trust: \(home)/certificates/ca.pem
        gateway: localhost:\(port)

        """
    }
}

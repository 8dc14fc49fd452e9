import SecureTransport

extension AppConfiguration {
    /// The files of the credentials and trusted authorities; relative paths are resolved against `folder`, where the
    /// app's file is.
    package func credentialFiles(in folder: String) -> [String] {
        let files = credentials.files + [trust].compactMap(\.self)
        return files.filter { !$0.isEmpty }.map { ConfigurationFile.resolve($0, in: folder) }
    }

    /// The configuration key of a secret that is written in the app's own file: a private key, or a proxy's password; `nil` if
    /// there is none.
    var secretKey: String? { credentials.secretKey ?? (requests?.proxy?.login == nil ? nil : "proxy") }

    /// The file that contains the certificate; `nil` without one, and for a certificate written in the app's own file.
    package func certificateFile(in folder: String) -> String? {
        credentials.certificateFile.map { ConfigurationFile.resolve($0, in: folder) }
    }
}

import SecureTransport

extension AppConfiguration {
    /// The files of the credentials and trusted authorities; relative paths are resolved against `folder`, where the
    /// app's file is.
    package func credentialFiles(in folder: String) -> [String] {
        var files = [passphrase?.file, trust].compactMap(\.self)
        switch identity {
        case .certificate(let certificate, let key): files += [certificate.file, key?.file].compactMap(\.self)
        case .pkcs12(let file): files.append(file)
        case .token(let key, _): files += [key.file].compactMap(\.self)
        }
        // The file name is empty if the app's credentials could not be read.
        return files.filter { !$0.isEmpty }.map { ConfigurationFile.resolve($0, in: folder) }
    }

    /// The configuration key of a secret that is written in the app's own file: a private key, or a proxy's password; `nil` if
    /// there is none.
    var secretKey: String? {
        switch identity {
        case .certificate(_, .text): return "credentials.key"
        case .certificate(.text, nil): return "credentials.certificate"
        case .token(.text, _): return "credentials.token.key"
        case .certificate, .pkcs12, .token: return http2?.proxy?.login == nil ? nil : "proxy"
        }
    }

    /// The file that contains the certificate; `nil` for a token, and for a certificate written in the app's own file.
    package func certificateFile(in folder: String) -> String? {
        let file: String? =
            switch identity {
            case .certificate(let certificate, _): certificate.file
            case .pkcs12(let file): file
            case .token: nil
            }
        return file.map { ConfigurationFile.resolve($0, in: folder) }
    }
}

extension AppConfiguration.Source {
    fileprivate var file: String? {
        switch self {
        case .file(let file): file
        case .text: nil
        }
    }
}

extension AppConfiguration.Passphrase {
    fileprivate var file: String? {
        switch self {
        case .file(let file): file
        case .variable: nil
        }
    }
}

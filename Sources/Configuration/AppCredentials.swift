package import APNSHTTP2

/// The section `credentials` of an app's file: how the app proves who it is.
package struct AppCredentials: Hashable, Sendable {
    /// Where a certificate or key comes from.
    package enum Source: Hashable, Sendable {
        /// A file, relative to the folder of the app's file.
        case file(String)
        /// The PEM text itself, which is never printed.
        case text([UInt8])
    }

    /// The kind of credentials.
    package enum Identity: Hashable, Sendable {
        /// A certificate and, if separate, its key, as PEM.
        case certificate(Source, key: Source?)
        /// The path of a PKCS#12 container.
        case pkcs12(String)
        /// A key that signs provider tokens, with its key id and team id.
        case token(key: Source, of: ProviderIdentity)
        /// The path of a service account's file.
        case serviceAccount(String)
    }

    /// Where the passphrase of a key or container comes from.
    package enum Passphrase: Hashable, Sendable {
        /// A file, relative to the folder of the app's file.
        case file(String)
        /// An environment variable.
        case variable(String)
    }

    /// The kind, with its files.
    package var identity = Identity.pkcs12("")
    /// The passphrase of the key or container; `nil`: it has none.
    package var passphrase: Passphrase?

    /// Creates credentials that are still to be read.
    init() {}

    /// The paths of the files, as configured. A path is empty if the credentials could not be read.
    var files: [String] {
        var files: [String?] = if case .file(let file) = passphrase { [file] } else { [] }
        switch identity {
        case .certificate(let certificate, let key): files += [certificate.file, key?.file]
        case .pkcs12(let file), .serviceAccount(let file): files.append(file)
        case .token(let key, _): files.append(key.file)
        }
        return files.compactMap(\.self)
    }

    /// The file that contains the certificate; `nil` without one, and for a certificate written in the app's own file.
    var certificateFile: String? {
        switch identity {
        case .certificate(let certificate, _): certificate.file
        case .pkcs12(let file): file
        case .token, .serviceAccount: nil
        }
    }

    /// The configuration key of a private key that is written in the app's own file; `nil` if there is none.
    var secretKey: String? {
        switch identity {
        case .certificate(_, .text): "credentials.key"
        case .certificate(.text, nil): "credentials.certificate"
        case .token(.text, _): "credentials.token.key"
        case .certificate, .pkcs12, .token, .serviceAccount: nil
        }
    }
}

extension AppCredentials.Source {
    fileprivate var file: String? {
        switch self {
        case .file(let file): file
        case .text: nil
        }
    }
}

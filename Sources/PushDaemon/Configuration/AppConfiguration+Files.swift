extension AppConfiguration {
    /// The files that credentials and authorities are read from, seen from the folder of the app's own file.
    package func credentialFiles(in folder: String) -> [String] {
        var files = [passphraseFile, trust].compactMap(\.self)
        switch identity {
        case .certificate(let certificate, let key): files += [certificate.file, key?.file].compactMap(\.self)
        case .pkcs12(let file): files.append(file)
        case .token(let key, _): files += [key.file].compactMap(\.self)
        }
        // An app whose credentials cannot be read has an empty name there.
        return files.filter { !$0.isEmpty }.map { ConfigurationFile.resolve($0, in: folder) }
    }

    /// The file that the certificate is in; `nil` for a token, and for a certificate that stands in the app's own file.
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

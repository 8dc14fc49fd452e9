import COpenSSL

/// Creates the errors for a file of the wrong kind, which tell the user its actual kind.
enum MistakenFile {
    /// Returns the error for text without the expected certificate.
    static func insteadOfCertificate(_ file: PEMFile) -> TLSError {
        if file.labels.isEmpty { return binary(file.bytes) ?? empty }
        if file.hasSigningRequest {
            return .mistaken(
                "the file is a certificate signing request, not a certificate",
                hint: "upload it at the developer account and use the certificate that is issued for it")
        }
        if file.hasPrivateKey {
            return TLSError(
                .credentials(.noCertificate), "the file holds a private key and no certificate",
                hint: "if it is Apple's .p8 key for tokens, use `token:` instead of `certificate:`; else add the"
                    + " certificate to the file and name the key with `key:`")
        }
        return TLSError(
            .credentials(.noCertificate), "the file holds \(file.labels[0]) and no certificate",
            hint: "it needs a block `-----BEGIN CERTIFICATE-----`")
    }

    /// Returns the error for bytes that are not a PKCS#12 container.
    static func insteadOfContainer(_ bytes: [UInt8], _ errors: LibraryErrors) -> TLSError {
        let file = PEMFile(bytes)
        if file.labels.isEmpty { return binary(bytes) ?? .unreadable("the PKCS#12 file", errors) }
        return .mistaken(
            "the file is PEM text, not a PKCS#12 container", hint: "name it with `certificate:` instead of `pkcs12:`")
    }

    private static var empty: TLSError {
        TLSError(
            .credentials(.noCertificate), "the file holds no certificate",
            hint: "it must be PEM text with a block `-----BEGIN CERTIFICATE-----`")
    }

    /// Recognizes DER forms by parsing them.
    private static func binary(_ bytes: [UInt8]) -> TLSError? {
        LibraryErrors.clear()
        defer { LibraryErrors.clear() }
        return unsafe bytes.withUnsafeBufferPointer { buffer -> TLSError? in
            var start = buffer.baseAddress
            if let certificate = unsafe d2i_X509(nil, &start, buffer.count) {
                unsafe X509_free(certificate)
                return derCertificate
            }
            unsafe start = buffer.baseAddress
            if let container = unsafe d2i_PKCS12(nil, &start, buffer.count) {
                unsafe PKCS12_free(container)
                return .mistaken(
                    "the file is a PKCS#12 container, not PEM text",
                    hint: "name it with `pkcs12:` instead of `certificate:`")
            }
            unsafe start = buffer.baseAddress
            guard let request = unsafe d2i_X509_REQ(nil, &start, buffer.count) else { return nil }
            unsafe X509_REQ_free(request)
            return .mistaken(
                "the file is a certificate signing request, not a certificate",
                hint: "upload it at the developer account and use the certificate that is issued for it")
        }
    }

    private static let derCertificate = TLSError.mistaken(
        "the file is a certificate in DER form (.cer), which has no private key",
        hint: "convert it with `openssl x509 -inform DER -in FILE -out FILE.pem`, and name its key with `key:`")
}

import COpenSSL

extension CertificateFacts {
    /// Reads a certificate, which the caller continues to own.
    init(reading certificate: OpaquePointer) {
        let subject = unsafe X509_get_subject_name(certificate)
        let issuer = unsafe X509_get_issuer_name(certificate)
        var topics: [String] = []
        for name in [AppleExtension.topics, AppleExtension.furtherTopics] {
            let listed = unsafe extensionValue(name, of: certificate).map { Self.topics(inExtension: $0) } ?? []
            topics += listed.filter { !topics.contains($0) }
        }
        self.init(
            commonName: unsafe entry(NID_commonName, of: subject), userID: unsafe entry(NID_userId, of: subject),
            issuer: unsafe entry(NID_commonName, of: issuer) ?? entry(NID_organizationName, of: issuer)
                ?? oneLine(issuer),
            notBefore: unsafe seconds(X509_get0_notBefore(certificate)),
            notAfter: unsafe seconds(X509_get0_notAfter(certificate)), fingerprint: unsafe digest(of: certificate),
            publicKeyFingerprint: unsafe publicKeyDigest(of: certificate),
            alternativeNames: unsafe names(of: certificate),
            isForSandbox: unsafe extensionValue(AppleExtension.sandbox, of: certificate) != nil,
            isForProduction: unsafe extensionValue(AppleExtension.production, of: certificate) != nil,
            topics: topics)
        LibraryErrors.clear()
    }

    /// Reads the first certificate of PEM text, for a server that knows its clients by their public keys.
    ///
    /// - Parameter text: The PEM text. Keys in it are ignored.
    /// - Returns: The certificate's content; `nil` if the text has no certificate.
    /// - Throws: `TLSError` of category `trust`: the certificate is damaged.
    package static func first(inPEM text: [UInt8]) throws(TLSError) -> CertificateFacts? {
        let list = try PEMFile(text).certificates()
        return unsafe list.borrow(0).map { unsafe CertificateFacts(reading: $0) }
    }
}

/// Returns the first entry of a given kind in a distinguished name.
private func entry(_ kind: Int32, of name: OpaquePointer?) -> String? {
    let index = unsafe X509_NAME_get_index_by_NID(name, kind, -1)
    guard index >= 0, let value = unsafe X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) else { return nil }
    var utf8: UnsafeMutablePointer<UInt8>?
    let count = unsafe ASN1_STRING_to_UTF8(&utf8, value)
    guard count >= 0, let text = unsafe utf8 else { return nil }
    defer { unsafe CRYPTO_free(text, nil, 0) }
    return unsafe String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
}

/// Returns a whole name as `/C=US/O=…`.
private func oneLine(_ name: OpaquePointer?) -> String {
    guard let text = unsafe X509_NAME_oneline(name, nil, 0) else { return "unnamed" }
    defer { unsafe CRYPTO_free(text, nil, 0) }
    return unsafe String(cString: text)
}

/// Returns a time in seconds since 1970; 0 if it is malformed.
private func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
    guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return 0 }
    defer { unsafe ASN1_STRING_free(epoch) }
    var days: Int32 = 0
    var rest: Int32 = 0
    guard unsafe ASN1_TIME_diff(&days, &rest, epoch, time) == 1 else { return 0 }
    return Int64(days) * 86_400 + Int64(rest)
}

/// Returns the SHA-256 digest of the DER form.
private func digest(of certificate: OpaquePointer) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { space, count in
        var length: UInt32 = 0
        let result = unsafe X509_digest(certificate, EVP_sha256(), space.baseAddress, &length)
        count = result == 1 ? Int(length) : 0
    }
}

/// Returns the SHA-256 digest of the public key, without its algorithm.
private func publicKeyDigest(of certificate: OpaquePointer) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { space, count in
        var length: UInt32 = 0
        let result = unsafe X509_pubkey_digest(certificate, EVP_sha256(), space.baseAddress, &length)
        count = result == 1 ? Int(length) : 0
    }
}

/// Returns the DNS names and addresses of the subject alternative name extension.
private func names(of certificate: OpaquePointer) -> [String] {
    guard let list = unsafe X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(list)
    defer { unsafe GENERAL_NAMES_free(names) }
    return unsafe (0..<shim_name_stack_count(names)).compactMap { index in
        let name = unsafe shim_name_stack_at(names, index)
        guard let text = unsafe shim_name_text(name) else { return nil }
        let value = unsafe bytes(of: text)
        return unsafe shim_name_is_address(name) == 1 ? address(value) : String(decoding: value, as: UTF8.self)
    }
}

/// Formats 4 bytes as IPv4, and 16 as IPv6 without shortening.
private func address(_ bytes: [UInt8]) -> String {
    guard bytes.count == 16 else { return bytes.map { String($0) }.joined(separator: ".") }
    return stride(from: 0, to: 16, by: 2)
        .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
        .joined(separator: ":")
}

/// Returns the value of an extension by its dotted identifier.
private func extensionValue(_ identifier: String, of certificate: OpaquePointer) -> [UInt8]? {
    guard let object = unsafe OBJ_txt2obj(identifier, 1) else { return nil }
    defer { unsafe ASN1_OBJECT_free(object) }
    let index = unsafe X509_get_ext_by_OBJ(certificate, object, -1)
    guard index >= 0, let value = unsafe X509_EXTENSION_get_data(X509_get_ext(certificate, index)) else { return nil }
    return unsafe bytes(of: value)
}

private func bytes(of string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
    unsafe [UInt8](
        UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
}

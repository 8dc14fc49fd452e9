import COpenSSL

/// Builds a certificate step by step, for `CertificateAuthority`.
@safe struct CertificateBuilder: ~Copyable {
    private let certificate: CertificateHandle

    /// Starts an empty certificate of version 3 with a random serial number.
    init() throws(TLSError) {
        LibraryErrors.clear()
        guard let pointer = unsafe X509_new() else { throw LibraryErrors.drain().asFailure() }
        let certificate = unsafe CertificateHandle(adopting: pointer)
        let serial = RandomBytes.make(count: 8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1
        try require(unsafe X509_set_version(pointer, CLong(X509_VERSION_3)))
        try require(unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), serial))
        self.certificate = certificate
    }

    /// Sets the subject, the validity and the key.
    mutating func setSubject(_ plan: CertificatePlan, key: borrowing KeyHandle) throws(TLSError) {
        let name = unsafe X509_get_subject_name(certificate.pointer)
        if let userID = plan.userID { try unsafe add(userID, as: NID_userId, to: name) }
        try unsafe add(plan.commonName, as: NID_commonName, to: name)
        try require(unsafe X509_set_pubkey(certificate.pointer, key.pointer))
        try setValidity(plan.validity)
    }

    private func setValidity(_ validity: ClosedRange<Int64>?) throws(TLSError) {
        let start = unsafe X509_getm_notBefore(certificate.pointer)
        let end = unsafe X509_getm_notAfter(certificate.pointer)
        if let validity {
            let isSet = unsafe ASN1_TIME_set(start, Int(validity.lowerBound)) != nil
            try require(unsafe isSet && ASN1_TIME_set(end, Int(validity.upperBound)) != nil ? 1 : 0)
        } else {
            let isSet = unsafe X509_time_adj_ex(start, 0, -3_600, nil) != nil
            try require(unsafe isSet && X509_time_adj_ex(end, 90, 0, nil) != nil ? 1 : 0)
        }
    }

    /// Adds the extensions.
    ///
    /// - Parameters:
    ///   - plan: The purpose and Apple's extensions.
    ///   - issuer: The authority's certificate; `nil` for a self-signed certificate.
    /// - Throws: `TLSError` of category `library` for an invalid host.
    mutating func setExtensions(_ plan: CertificatePlan, issuer: OpaquePointer?) throws(TLSError) {
        let issuer = unsafe issuer ?? certificate.pointer
        for (kind, value) in try Self.extensions(for: plan.purpose) {
            try require(unsafe shim_X509_add_extension(certificate.pointer, issuer, kind, value))
        }
        let none: [UInt8] = [0x05, 0x00]
        if plan.isForSandbox { try add(AppleExtension.sandbox, none) }
        if plan.isForProduction { try add(AppleExtension.production, none) }
        if !plan.topics.isEmpty { try add(AppleExtension.topics, plan.topicsExtension) }
        if plan.furtherTopics != [] { try add(AppleExtension.furtherTopics, plan.furtherTopicsExtension) }
    }

    /// Signs and returns the certificate.
    consuming func signed(by key: borrowing KeyHandle, issuer: OpaquePointer?) throws(TLSError) -> CertificateHandle {
        let name = unsafe X509_get_subject_name(issuer ?? certificate.pointer)
        try require(unsafe X509_set_issuer_name(certificate.pointer, name))
        try require(unsafe X509_sign(certificate.pointer, key.pointer, EVP_sha256()) > 0 ? 1 : 0)
        return certificate
    }

    private func add(_ text: String, as kind: Int32, to name: OpaquePointer?) throws(TLSError) {
        let utf8 = Array(text.utf8)
        let result = unsafe X509_NAME_add_entry_by_NID(name, kind, MBSTRING_UTF8, utf8, Int32(utf8.count), -1, 0)
        try require(result)
    }

    /// Adds an extension with a DER value.
    private func add(_ identifier: String, _ value: [UInt8]) throws(TLSError) {
        let object = unsafe OBJ_txt2obj(identifier, 1)
        defer { unsafe ASN1_OBJECT_free(object) }
        let octets = unsafe ASN1_STRING_type_new(V_ASN1_OCTET_STRING)
        defer { unsafe ASN1_STRING_free(octets) }
        try require(unsafe ASN1_STRING_set(octets, value, Int32(value.count)))
        let entry = unsafe X509_EXTENSION_create_by_OBJ(nil, object, 0, octets)
        defer { unsafe X509_EXTENSION_free(entry) }
        try require(unsafe entry != nil ? X509_add_ext(certificate.pointer, entry, -1) : 0)
    }

    /// Returns the extensions of a purpose, in the syntax of openssl.cnf.
    private static func extensions(
        for purpose: CertificatePlan.Purpose
    ) throws(TLSError) -> [(kind: Int32, value: String)] {
        let leaf = [
            (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
            (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
        ]
        return switch purpose {
        case .server(let hosts):
            leaf + [(NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, try alternativeNames(hosts))]
        case .client: leaf + [(NID_ext_key_usage, "clientAuth")]
        case .authority(let hosts):
            [
                (NID_basic_constraints, "critical,CA:TRUE\(hosts.isEmpty ? "" : ",pathlen:0")"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"), (NID_subject_key_identifier, "hash"),
            ] + (hosts.isEmpty ? [] : [(NID_name_constraints, try constraints(hosts))])
        }
    }

    /// Permits these DNS names, and excludes all addresses: an extension says nothing of kinds of names that it does not list
    /// (RFC 5280 §4.2.1.10).
    private static func constraints(_ hosts: [String]) throws(TLSError) -> String {
        let permitted = try alternativeNames(hosts).split(separator: ",").map { "permitted;\($0)" }
        let excluded = ["IP:0.0.0.0/0.0.0.0", "IP:::/::"].map { "excluded;\($0)" }
        return "critical,\((permitted + excluded).joined(separator: ","))"
    }

    private static func alternativeNames(_ hosts: [String]) throws(TLSError) -> String {
        var names: [String] = []
        for host in hosts {
            let isPlain = host.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: ":")).contains(byte) || ".-_*".utf8.contains(byte)
            }
            guard isPlain, !host.isEmpty else { throw TLSError(.library, "\"\(host)\" is not a host name or address") }
            let address = unsafe a2i_IPADDRESS(host)
            names.append(unsafe (address == nil ? "DNS:" : "IP:") + host)
            unsafe ASN1_STRING_free(address)
        }
        LibraryErrors.clear()
        return names.joined(separator: ",")
    }
}

private func require(_ result: Int32) throws(TLSError) {
    guard result == 1 else { throw LibraryErrors.drain().asFailure() }
}

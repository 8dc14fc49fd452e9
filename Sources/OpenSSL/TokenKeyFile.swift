import COpenSSL

/// Reads the keys that sign and verify provider tokens. If the file is of the wrong kind, the error tells the user its
/// actual kind.
enum TokenKeyFile {
    /// The only curve of ES256, by its name in OpenSSL.
    private static let curve = "prime256v1"

    /// Returns the private key in PEM text.
    static func privateKey(in bytes: [UInt8]) throws(TLSError) -> KeyHandle {
        let file = PEMFile(bytes)
        if let mistake = mistake(in: file) { throw mistake }
        try file.requireOneKey()
        let bio = try MemoryBIO.reading(file.bytes)
        LibraryErrors.clear()
        // The callback supplies no passphrase. Without a callback, OpenSSL would prompt on the terminal.
        guard let pointer = unsafe PEM_read_bio_PrivateKey(bio.pointer, nil, { _, _, _, _ in -1 }, nil) else {
            let errors = LibraryErrors.drain()
            throw file.hasEncryptedHeader ? encrypted : .unreadable("the key for tokens", errors)
        }
        let key = unsafe KeyHandle(adopting: pointer)
        try requireP256(key)
        return key
    }

    /// Returns the public key in PEM text or DER.
    static func publicKey(in bytes: [UInt8]) throws(TLSError) -> KeyHandle {
        let file = PEMFile(bytes)
        if let damage = file.damage(.credentials(.unreadable)) { throw damage }
        let isPEM = !file.labels.isEmpty
        let bio = try MemoryBIO.reading(file.bytes)
        LibraryErrors.clear()
        let read =
            unsafe isPEM
            ? PEM_read_bio_PUBKEY(bio.pointer, nil, { _, _, _, _ in -1 }, nil) : d2i_PUBKEY_bio(bio.pointer, nil)
        guard let pointer = unsafe read else { throw .unreadable("the public key", LibraryErrors.drain()) }
        let key = unsafe KeyHandle(adopting: pointer)
        try requireP256(key)
        return key
    }

    private static func requireP256(_ key: borrowing KeyHandle) throws(TLSError) {
        guard unsafe EVP_PKEY_is_a(key.pointer, "EC") == 1 else {
            throw .mistaken(
                "the key cannot sign tokens: its type is \(unsafe kind(of: key.pointer)), not EC P-256",
                hint: getOne)
        }
        let name = unsafe group(of: key.pointer)
        guard name == curve else {
            throw .mistaken("the key cannot sign tokens: its curve is \(name), not P-256", hint: getOne)
        }
    }

    private static func kind(of key: OpaquePointer) -> String {
        guard let name = unsafe EVP_PKEY_get0_type_name(key) else { return "unknown" }
        return unsafe String(cString: name)
    }

    private static func group(of key: OpaquePointer) -> String {
        var name = [CChar](repeating: 0, count: 80)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return "unknown" }
        return String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension TokenKeyFile {
    private static let getOne =
        "name the .p8 file that was downloaded when the key was created at the developer account"

    private static let encrypted = TLSError(
        .credentials(.passphraseNeeded), "the key for tokens is encrypted",
        hint: "write it again without a passphrase, readable only by the daemon: openssl pkcs8 -topk8 -nocrypt -in FILE"
            + " -out FILE.p8")

    /// Returns the error for a file of the wrong kind, before any key is read from it.
    private static func mistake(in file: PEMFile) -> TLSError? {
        if let damage = file.damage(.credentials(.unreadable)) { return damage }
        if file.labels.contains("ENCRYPTED PRIVATE KEY") { return encrypted }
        if file.hasPrivateKey { return nil }
        if file.hasCertificate {
            return .mistaken(
                "the file is a certificate, not a key for tokens",
                hint: "use `certificate:` or `pkcs12:` instead of `token:`, or name the .p8 file")
        }
        if let label = file.labels.first {
            return .mistaken("the file holds \(label) and no private key", hint: getOne)
        }
        return file.bytes.isEmpty
            ? .mistaken("the key file is empty", hint: getOne)
            : .mistaken(
                "the file is not PEM text: it has no block `-----BEGIN PRIVATE KEY-----`",
                hint: getOne + "; to convert a key in DER form, run: openssl pkcs8 -topk8 -nocrypt -inform DER")
    }
}

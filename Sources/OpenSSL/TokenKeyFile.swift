import COpenSSL

/// Reads the keys that sign and verify tokens. If the key is of the wrong kind, the error tells the user its actual
/// kind.
enum TokenKeyFile {
    /// What a key must be able to sign with.
    enum Algorithm {
        /// ECDSA over P-256, with a key that Apple issued as a file.
        case es256
        /// RSASSA-PKCS1-v1_5, with the member `private_key` of Google's service account file.
        case rs256
    }

    /// Returns the private key in PEM text.
    static func privateKey(in bytes: [UInt8], for algorithm: Algorithm) throws(TLSError) -> KeyHandle {
        let file = PEMFile(bytes)
        if let mistake = algorithm.mistake(in: file) { throw mistake }
        try file.requireOneKey()
        let bio = try MemoryBIO.reading(file.bytes)
        LibraryErrors.clear()
        // The callback supplies no passphrase. Without a callback, OpenSSL would prompt on the terminal.
        guard let pointer = unsafe PEM_read_bio_PrivateKey(bio.pointer, nil, { _, _, _, _ in -1 }, nil) else {
            let errors = LibraryErrors.drain()
            throw file.hasEncryptedHeader ? algorithm.encrypted : .unreadable("the key for tokens", errors)
        }
        let key = unsafe KeyHandle(adopting: pointer)
        if let unfitness = algorithm.unfitness(of: key) { throw unfitness }
        return key
    }

    /// Returns the public key in PEM text or DER.
    static func publicKey(in bytes: [UInt8], for algorithm: Algorithm) throws(TLSError) -> KeyHandle {
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
        if let unfitness = algorithm.unfitness(of: key) { throw unfitness }
        return key
    }
}

// MARK: Kinds of keys

extension TokenKeyFile.Algorithm {
    /// The only curve of ES256, by its name in OpenSSL.
    private static let curve = "prime256v1"
    /// The lengths of keys for RS256, in bits: the least that RFC 7518 §3.3 allows, and one whose signature takes
    /// milliseconds.
    private static let keyBits: ClosedRange<Int32> = 2048...8192

    /// Returns why a key cannot sign with this algorithm; `nil` if it can.
    fileprivate func unfitness(of key: borrowing KeyHandle) -> TLSError? {
        guard let flaw = flaw(of: key) else { return nil }
        return .mistaken("the key cannot sign tokens: \(flaw)", hint: getOne)
    }

    private func flaw(of key: borrowing KeyHandle) -> String? {
        let kind = unsafe Self.kind(of: key.pointer)
        switch self {
        case .es256:
            guard kind == "EC" else { return "its type is \(kind), not EC P-256" }
            let name = unsafe Self.group(of: key.pointer)
            return name == Self.curve ? nil : "its curve is \(name), not P-256"
        case .rs256:
            guard kind == "RSA" else { return "its type is \(kind), not RSA" }
            let count = unsafe EVP_PKEY_get_bits(key.pointer)
            let isFit = Self.keyBits.contains(count)
            return isFit ? nil : "it has \(count) bits, not \(Self.keyBits.lowerBound) to \(Self.keyBits.upperBound)"
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

// MARK: Mistakes

extension TokenKeyFile.Algorithm {
    private var getOne: String {
        switch self {
        case .es256: "name the .p8 file that was downloaded when the key was created at the developer account"
        case .rs256:
            "create a key in the Firebase console (Project settings, Service accounts, Generate new private key), and"
                + " name the file as it was downloaded"
        }
    }

    /// What holds the key, for messages.
    private var subject: String {
        switch self {
        case .es256: "the file"
        case .rs256: "`private_key`"
        }
    }

    fileprivate var encrypted: TLSError {
        let hint =
            switch self {
            case .es256:
                "write it again without a passphrase, readable only by the daemon: openssl pkcs8 -topk8 -nocrypt -in"
                    + " FILE -out FILE.p8"
            case .rs256: getOne
            }
        return TLSError(.credentials(.passphraseNeeded), "the key for tokens is encrypted", hint: hint)
    }

    /// Returns the error for text of the wrong kind, before any key is read from it.
    fileprivate func mistake(in file: PEMFile) -> TLSError? {
        if let damage = file.damage(.credentials(.unreadable)) { return damage }
        if file.labels.contains("ENCRYPTED PRIVATE KEY") { return encrypted }
        if file.hasPrivateKey { return nil }
        if self == .es256, file.hasCertificate {
            return .mistaken(
                "the file is a certificate, not a key for tokens",
                hint: "use `certificate:` or `pkcs12:` instead of `token:`, or name the .p8 file")
        }
        if let label = file.labels.first {
            return .mistaken("\(subject) holds \(label) and no private key", hint: getOne)
        }
        if file.bytes.isEmpty {
            return .mistaken(self == .es256 ? "the key file is empty" : "\(subject) is empty", hint: getOne)
        }
        let conversion = "; to convert a key in DER form, run: openssl pkcs8 -topk8 -nocrypt -inform DER"
        return .mistaken(
            "\(subject) is not PEM text: it has no block `-----BEGIN PRIVATE KEY-----`",
            hint: self == .es256 ? getOne + conversion : getOne)
    }
}

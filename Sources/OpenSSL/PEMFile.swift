import COpenSSL

/// PEM text and the labels of its blocks (RFC 7468).
struct PEMFile {
    let bytes: [UInt8]
    /// The labels after `-----BEGIN`, in order.
    let labels: [String]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        labels = Self.labels(in: bytes)
    }

    /// The bytes as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var hasCertificate: Bool { labels.contains { $0.hasSuffix("CERTIFICATE") } }
    var hasPrivateKey: Bool { labels.contains { $0.hasSuffix("PRIVATE KEY") } }
    var hasSigningRequest: Bool { labels.contains { $0.hasSuffix("CERTIFICATE REQUEST") } }

    /// Returns all certificates, in order. An empty list is not an error.
    ///
    /// - Throws: `TLSError` of `category` when a block is damaged.
    func certificates(category: TLSError.Category = .trust) throws(TLSError) -> CertificateList {
        let list = try CertificateList()
        let bio = try MemoryBIO.reading(bytes)
        LibraryErrors.clear()
        while let pointer = unsafe PEM_read_bio_X509(bio.pointer, nil, { _, _, _, _ in -1 }, nil) {
            let certificate = unsafe CertificateHandle(adopting: pointer)
            try unsafe list.append(certificate.pointer)
        }
        let errors = LibraryErrors.drain()
        guard errors.has(ERR_LIB_PEM, PEM_R_NO_START_LINE) else {
            throw TLSError(
                category, "certificate \(list.count + 1) of the file is damaged: \(errors.text)",
                hint: "get a new copy of the file; an editor or a transfer may have changed its lines")
        }
        return list
    }

    /// Finds the blocks without decoding them.
    private static func labels(in bytes: [UInt8]) -> [String] {
        let begin = Array("-----BEGIN ".utf8)
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard line.starts(with: begin) else { return nil }
            let label = line.dropFirst(begin.count).prefix { $0 != UInt8(ascii: "-") }
            return String(decoding: label, as: UTF8.self)
        }
    }
}

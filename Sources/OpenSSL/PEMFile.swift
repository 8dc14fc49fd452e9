import COpenSSL

/// PEM text and the labels of its blocks (RFC 7468), also as people paste it: behind a byte order mark, indented, in one line, with
/// `\n` instead of line ends, or with other text around the blocks.
///
/// An object, because its copy of a key is overwritten at the end.
final class PEMFile {
    /// The blocks alone, with the usual line ends; the bytes as they came if there is no block.
    private(set) var bytes: [UInt8]
    /// The labels after `-----BEGIN`, in order.
    private(set) var labels: [String] = []
    /// The label of a block without its last line.
    private var openLabel: String?

    init(_ source: [UInt8]) {
        bytes = []
        // Enough for all added line ends, so that growing leaves no copy behind.
        bytes.reserveCapacity(source.count + source.count / 8 + 128)
        copyBlocks(of: source)
        if labels.isEmpty { bytes = source }
    }

    deinit { Secret.erase(&bytes) }

    var hasCertificate: Bool { labels.contains { $0.hasSuffix("CERTIFICATE") } }
    var hasPrivateKey: Bool { privateKeyCount > 0 }
    var privateKeyCount: Int { labels.count { $0.hasSuffix("PRIVATE KEY") } }
    var hasSigningRequest: Bool { labels.contains { $0.hasSuffix("CERTIFICATE REQUEST") } }
    /// Whether the key is encrypted in OpenSSL's own form, with header fields.
    var hasEncryptedHeader: Bool { Self.find("Proc-Type: 4,ENCRYPTED", in: bytes, from: 0) != nil }

    /// Returns why the text has fewer blocks than its author meant; `nil` if nothing tells.
    func damage(_ category: TLSError.Category) -> TLSError? {
        if let openLabel {
            return TLSError(
                category, "the block \(openLabel) has no last line, `-----END \(openLabel)-----`",
                hint: "copy the whole file, to its last line")
        }
        // DER begins with a SEQUENCE.
        guard labels.isEmpty, bytes.first != 0x30 else { return nil }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return TLSError(category, "the file is in UTF-16", hint: "save it as UTF-8")
        }
        for label in ["PRIVATE KEY", "CERTIFICATE", "PUBLIC KEY"] where Self.find(label, in: bytes, from: 0) != nil {
            return TLSError(
                category, "the line with \(label) is no first line of a block",
                hint: "write it as -----BEGIN \(label)-----, with five hyphens on both sides")
        }
        return nil
    }

    /// Checks that there is no more than one private key, since nothing would say which one is meant.
    ///
    /// - Throws: `TLSError` of category `credentials`.
    func requireOneKey() throws(TLSError) {
        guard privateKeyCount > 1 else { return }
        throw TLSError(
            .credentials(.mistakenFile), "the file holds \(privateKeyCount) private keys",
            hint: "leave only the one that is meant")
    }

    /// Returns all certificates, in order. An empty list is not an error.
    ///
    /// - Throws: `TLSError` of `category` when a block is damaged.
    func certificates(category: TLSError.Category = .trust) throws(TLSError) -> CertificateList {
        if let damage = damage(category) { throw damage }
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
}

// MARK: Blocks

extension PEMFile {
    private static let (begin, end, dashes) = ("-----BEGIN ", "-----END ", "-----")

    /// Copies the blocks. Each byte is looked at a few times at most, whatever the text.
    private func copyBlocks(of source: [UInt8]) {
        var position = 0
        while let start = Self.find(Self.begin, in: source, from: position) {
            position = start + Self.begin.utf8.count
            guard let labelEnd = Self.find(Self.dashes, in: source, from: position), labelEnd - position <= 64,
                source[position..<labelEnd].allSatisfy(Self.isOfLabel)
            else { continue }
            let label = String(decoding: source[position..<labelEnd], as: UTF8.self)
            let body = labelEnd + Self.dashes.utf8.count
            let next = Self.find(Self.dashes, in: source, from: body) ?? source.count
            let last = Self.end + label + Self.dashes
            if source[next...].starts(with: last.utf8) {
                openLabel = nil
                append(label, source[body..<next])
                position = next + last.utf8.count
            } else {
                // It may be a remark about a block that follows.
                if isFirstInLine(start, of: source) { openLabel = label }
                position = next
            }
        }
    }

    private static func isOfLabel(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, UInt8(ascii: " "): true
        default: false
        }
    }

    private func isFirstInLine(_ place: Int, of source: [UInt8]) -> Bool {
        let before = source[..<place].last { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard let before else { return true }
        return [0x0A, 0x0D, 0xBF, UInt8(ascii: "\""), UInt8(ascii: "'")].contains(before)
    }

    private func append(_ label: String, _ body: ArraySlice<UInt8>) {
        labels.append(label)
        bytes += (Self.begin + label + Self.dashes + "\n").utf8
        if body.contains(UInt8(ascii: ":")) { appendLines(body) } else { appendDigits(body) }
        bytes += (Self.end + label + Self.dashes + "\n").utf8
    }

    /// Appends base64 in lines of 64 digits.
    private func appendDigits(_ body: ArraySlice<UInt8>) {
        var count = 0
        forEachByte(of: body) { byte in
            guard byte > 0x20 else { return }
            if count == 64 {
                bytes.append(0x0A)
                count = 0
            }
            bytes.append(byte)
            count += 1
        }
        if count > 0 { bytes.append(0x0A) }
    }

    /// Appends header fields, the empty line after them, and base64, without indentation.
    private func appendLines(_ body: ArraySlice<UInt8>) {
        var isIndentation = true
        var isStart = true
        forEachByte(of: body) { byte in
            if isIndentation, byte == 0x20 || byte == 0x09 { return }
            isIndentation = byte == 0x0A
            // The end of the block's first line.
            if isStart, byte == 0x0A { return }
            isStart = false
            bytes.append(byte)
        }
        if bytes.last != 0x0A { bytes.append(0x0A) }
    }

    /// Passes on the bytes with a line feed for each line end, and for `\n` and `\r` in letters.
    private func forEachByte(of body: ArraySlice<UInt8>, _ handle: (UInt8) -> Void) {
        var place = body.startIndex
        while place < body.endIndex {
            let (byte, next) = (body[place], place + 1 < body.endIndex ? body[place + 1] : 0)
            place += 1
            switch (byte, next) {
            case (0x0D, 0x0A): continue
            case (0x0D, _): handle(0x0A)
            case (UInt8(ascii: "\\"), UInt8(ascii: "n")):
                place += 1
                handle(0x0A)
            case (UInt8(ascii: "\\"), UInt8(ascii: "r")): place += 1
            default: handle(byte)
            }
        }
    }

    private static func find(_ text: String, in bytes: [UInt8], from start: Int) -> Int? {
        let wanted = Array(text.utf8)
        guard start >= 0, bytes.count >= wanted.count else { return nil }
        var place = start
        while place <= bytes.count - wanted.count {
            if bytes[place] == wanted[0], bytes[place...].starts(with: wanted) { return place }
            place += 1
        }
        return nil
    }
}

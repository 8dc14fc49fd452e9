extension StringProtocol {
    /// Whether the text is PEM, or was meant to be.
    package var isPEM: Bool { contains("-----BEGIN ") || contains("PRIVATE KEY-") }

    /// Whether the text is, or may be a part of, a key or certificate, so that no message may quote it: PEM, base64 of DER,
    /// which begins with a SEQUENCE of long form, or a line of such base64.
    package var mayBeKey: Bool {
        if isPEM { return true }
        let digits = utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
        guard digits.count >= 48, digits.allSatisfy(Self.isBase64) else { return false }
        if hasPrefix("MI") { return true }
        let kinds = [UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z")]
        return first != "/"
            && (kinds + [UInt8(ascii: "0")...UInt8(ascii: "9")]).allSatisfy { digits.contains(where: $0.contains) }
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}

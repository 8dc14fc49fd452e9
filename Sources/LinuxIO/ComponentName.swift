import Document
import Glibc

/// One component of a path as C wants it, ending in NUL.
struct ComponentName {
    let bytes: [CChar]

    /// - Throws: `SystemError` (EINVAL): empty, over 255 bytes, `.`, `..`, or with a slash or NUL in it.
    init(_ name: [UInt8], for operation: String) throws(SystemError) {
        let isComponent =
            !name.isEmpty && name.count <= 255 && name != [0x2E] && name != [0x2E, 0x2E]
            && !name.contains { $0 == 0 || $0 == 0x2F }
        guard isComponent else { throw SystemError(code: EINVAL, operation: operation, subject: printable(name)) }
        var bytes: [CChar] = []
        bytes.reserveCapacity(name.count + 1)
        for byte in name { bytes.append(CChar(bitPattern: byte)) }
        bytes.append(0)
        self.bytes = bytes
    }
}

/// A name for a message: as it is when it is UTF-8 that may be shown, else every odd byte as `%XX`.
func printable(_ name: [UInt8]) -> String {
    if let text = String(validating: name, as: UTF8.self), !text.hasControls { return text }
    let digits = Array("0123456789ABCDEF")
    return name.reduce(into: "") { text, byte in
        if (0x21...0x7E).contains(byte) {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
    }
}

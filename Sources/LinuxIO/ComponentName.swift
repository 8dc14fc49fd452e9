import Document
import Glibc

/// One path component as a NUL-terminated C string.
struct ComponentName {
    let bytes: [CChar]

    /// - Throws: `SystemError` (EINVAL): the name is empty, longer than 255 bytes, `.` or `..`, or contains a slash or NUL.
    init(_ name: [UInt8], for operation: String) throws(SystemError) {
        let span = name.span
        var isComponent = !span.isEmpty && span.count <= 255
        // `.` and `..`, or an empty name, have no other byte.
        var hasOther = false
        for index in span.indices {
            let byte = span[index]
            isComponent = isComponent && byte != 0 && byte != 0x2F
            hasOther = hasOther || byte != 0x2E
        }
        guard isComponent, hasOther || span.count > 2 else {
            throw SystemError(code: EINVAL, operation: operation, subject: printable(name))
        }
        bytes = [CChar](capacity: span.count + 1) { output in
            for index in span.indices { output.append(CChar(bitPattern: span[index])) }
            output.append(0)
        }
    }
}

/// Formats a name for a message: unchanged if it is UTF-8 without control characters, else with every other byte as `%XX`.
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

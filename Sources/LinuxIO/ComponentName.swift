import Document
import Glibc

/// One path component as a NUL-terminated C string.
struct ComponentName {
    let bytes: [CChar]

    /// - Throws: `SystemError` (EINVAL): the name is empty, longer than 255 bytes, `.` or `..`, or contains a slash or NUL.
    init(_ name: [UInt8], for operation: String) throws(SystemError) {
        let isComponent = unsafe name.withUnsafeBytes { bytes in
            guard (1...255).contains(bytes.count), let start = bytes.baseAddress else { return false }
            return unsafe memchr(start, 0, bytes.count) == nil && memchr(start, 0x2F, bytes.count) == nil
        }
        guard isComponent, name != [0x2E], name != [0x2E, 0x2E] else {
            throw SystemError(code: EINVAL, operation: operation, subject: printable(name))
        }
        bytes = unsafe [CChar](unsafeUninitializedCapacity: name.count + 1) { buffer, count in
            unsafe UnsafeMutableRawBufferPointer(buffer).copyBytes(from: name)
            unsafe buffer[name.count] = 0
            count = name.count + 1
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

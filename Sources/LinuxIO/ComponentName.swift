import Document
import Glibc

/// One path component as a NUL-terminated C string.
struct ComponentName {
    /// The bytes and a NUL. In place: names are used too often for an allocation each time.
    private let text: InlineArray<256, CChar>

    /// - Throws: `SystemError` (EINVAL): the name is empty, longer than 255 bytes, `.` or `..`, or contains a slash or NUL.
    init(_ name: [UInt8], for operation: String) throws(SystemError) {
        let isComponent = unsafe name.withUnsafeBytes { bytes in
            guard (1...255).contains(bytes.count), let start = bytes.baseAddress else { return false }
            return unsafe memchr(start, 0, bytes.count) == nil && memchr(start, 0x2F, bytes.count) == nil
        }
        guard isComponent, name != [0x2E], name != [0x2E, 0x2E] else {
            throw SystemError(code: EINVAL, operation: operation, subject: printable(name))
        }
        var text = InlineArray<256, CChar>(repeating: 0)
        unsafe withUnsafeMutableBytes(of: &text) { unsafe $0.copyBytes(from: name) }
        self.text = text
    }

    /// Calls `body` with the name as C functions take it.
    @inline(__always)
    func withText<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe withUnsafePointer(to: text) { unsafe body(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
    }

    /// Calls `body` with this name and another.
    @inline(__always)
    func withText<Result>(
        and other: ComponentName, _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Result
    ) -> Result {
        unsafe withText { own in unsafe other.withText { unsafe body(own, $0) } }
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

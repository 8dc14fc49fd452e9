import COpenSSL

/// Bytes that are overwritten when the last owner lets go, and that never print themselves.
///
/// Sendable: the memory is written in `init` and in `deinit` only.
@safe package final class Secret: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    /// Followed by a NUL, because some calls of OpenSSL want a C string.
    private let bytes: UnsafeMutableRawBufferPointer
    /// How many bytes it holds.
    package let byteCount: Int

    /// Copies `bytes`; the caller's own copy is the caller's to forget.
    package init(_ bytes: some Collection<UInt8>) {
        byteCount = bytes.count
        unsafe self.bytes = .allocate(byteCount: bytes.count + 1, alignment: 1)
        unsafe self.bytes.copyBytes(from: bytes)
        unsafe self.bytes[byteCount] = 0
    }

    /// Takes the content of a passphrase file: all of it but one line ending at the end.
    package convenience init(passphraseFile content: [UInt8]) {
        var line = content[...]
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        self.init(line)
    }

    /// Overwrites what an array holds, and empties it. Of several that share it the caller's must be the last: others keep it.
    package static func erase(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
        bytes = []
    }

    deinit {
        unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        unsafe bytes.deallocate()
    }

    /// Always `<redacted>`.
    package var description: String { "<redacted>" }

    /// Shows nothing to `dump` and debuggers.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Appends the bytes to `output`, for what must be told to a peer; the copy is the caller's to forget.
    package func append(to output: inout [UInt8]) {
        unsafe output.append(contentsOf: bytes[..<byteCount])
    }

    /// Copies the bytes into `space`; returns their count, or `nil` when they do not fit.
    func copy(into space: UnsafeMutableRawBufferPointer) -> Int? {
        guard byteCount <= space.count else { return nil }
        unsafe space.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<byteCount]))
        return byteCount
    }

    /// Calls `body` with the bytes as a C string, which ends at the first NUL in them.
    func withCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        unsafe body(bytes.baseAddress.map { unsafe UnsafePointer($0.assumingMemoryBound(to: CChar.self)) })
    }
}

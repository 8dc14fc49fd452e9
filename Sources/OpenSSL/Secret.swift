import COpenSSL

/// Bytes that are overwritten when the last reference is released, and that are never printed.
///
/// Sendable: the memory is written only in `init` and `deinit`.
@safe package final class Secret: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    /// Terminated by a NUL, because some OpenSSL calls expect a C string.
    private let bytes: UnsafeMutableRawBufferPointer
    /// The number of bytes.
    package let byteCount: Int

    /// Copies `bytes`. The caller must erase its own copy.
    package init(_ bytes: some Collection<UInt8>) {
        byteCount = bytes.count
        unsafe self.bytes = .allocate(byteCount: bytes.count + 1, alignment: 1)
        unsafe self.bytes.copyBytes(from: bytes)
        unsafe self.bytes[byteCount] = 0
    }

    /// Copies the content of a passphrase file, without one line ending at its end and a byte order mark at its start.
    package convenience init(passphraseFile content: [UInt8]) {
        var line = content[...]
        if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        self.init(line)
    }

    /// Overwrites the content of an array and empties it. If several arrays share the storage, the caller's must be the
    /// last: the others keep the content.
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

    /// Hides the bytes from `dump` and debuggers.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Appends the bytes to `output`, to be sent to a peer. The caller must erase that copy.
    package func append(to output: inout [UInt8]) {
        unsafe output.append(contentsOf: bytes[..<byteCount])
    }

    /// Copies the bytes into `space`. Returns their count, or `nil` if they do not fit.
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

import LinuxIO

/// Standard output in large pieces, for commands that print much, and must know whether it was written.
struct OutputBuffer {
    private static let pieceByteCount = 65_536
    private var bytes: [UInt8] = []

    /// Nothing is written yet.
    init() {}

    /// Adds bytes, and writes once there are many.
    ///
    /// - Throws: `SystemError`: EPIPE when nobody reads any more.
    mutating func append(_ more: some Sequence<UInt8>) throws(SystemError) {
        bytes.append(contentsOf: more)
        if bytes.count >= Self.pieceByteCount { try flush() }
    }

    /// Writes what has been added.
    ///
    /// - Throws: `SystemError`: EPIPE when nobody reads any more.
    mutating func flush() throws(SystemError) {
        guard !bytes.isEmpty else { return }
        try StandardStream.output.send(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

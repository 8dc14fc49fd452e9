package import LinuxIO

/// Buffers standard output, for commands that print a lot and must know whether all of it was written.
package struct OutputBuffer {
    private static let pieceByteCount = 65_536
    private var bytes: [UInt8] = []

    /// Creates an empty buffer.
    package init() {}

    /// Appends bytes, and writes when the buffer is large enough.
    ///
    /// - Throws: `SystemError`: EPIPE if the reader has closed the pipe.
    package mutating func append(_ more: some Sequence<UInt8>) throws(SystemError) {
        bytes.append(contentsOf: more)
        if bytes.count >= Self.pieceByteCount { try flush() }
    }

    /// Appends lines of text.
    ///
    /// - Throws: `SystemError`: EPIPE if the reader has closed the pipe.
    package mutating func append(lines: [String]) throws(SystemError) {
        for line in lines { try append((line + "\n").utf8) }
    }

    /// Writes the buffered bytes.
    ///
    /// - Throws: `SystemError`: EPIPE if the reader has closed the pipe.
    package mutating func flush() throws(SystemError) {
        guard !bytes.isEmpty else { return }
        try StandardStream.output.send(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

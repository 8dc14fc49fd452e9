import ArgumentParser
import LinuxIO

/// Buffers standard output, for commands that print a lot and must know whether all of it was written.
struct OutputBuffer {
    private static let pieceByteCount = 65_536
    private var bytes: [UInt8] = []

    /// Creates an empty buffer.
    init() {}

    /// Appends bytes, and writes when the buffer is large enough.
    ///
    /// - Throws: `SystemError`: EPIPE if the reader has closed the pipe.
    mutating func append(_ more: some Sequence<UInt8>) throws(SystemError) {
        bytes.append(contentsOf: more)
        if bytes.count >= Self.pieceByteCount { try flush() }
    }

    /// Appends lines of text.
    ///
    /// - Throws: `SystemError`: EPIPE if the reader has closed the pipe.
    mutating func append(lines: [String]) throws(SystemError) {
        for line in lines { try append((line + "\n").utf8) }
    }

    /// Writes the buffered bytes.
    ///
    /// - Throws: `SystemError`: EPIPE if the reader has closed the pipe.
    mutating func flush() throws(SystemError) {
        guard !bytes.isEmpty else { return }
        try StandardStream.output.send(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Runs a command that prints. All output of `body` is written before the command ends; otherwise the command
    /// fails.
    ///
    /// - Throws: `ExitCode` if reading or writing failed, after reporting the error with `hint`; all other errors of
    ///   `body`. A closed pipe is not an error.
    static func printing(hint: String, _ body: (inout OutputBuffer) throws -> Void) throws {
        var output = OutputBuffer()
        do {
            try body(&output)
            try output.flush()
        } catch let error as SystemError {
            try complain(of: error, hint)
        }
    }

    private static func complain(of error: SystemError, _ hint: String) throws {
        if error.isBrokenPipe { return }
        Talk.complain("\(error)", hint: error.isOutOfSpace ? "free some space, and run the command again" : hint)
        throw ExitCode.badInput
    }
}

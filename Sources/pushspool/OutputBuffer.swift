import ArgumentParser
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

    /// Adds lines of text.
    ///
    /// - Throws: `SystemError`: EPIPE when nobody reads any more.
    mutating func append(lines: [String]) throws(SystemError) {
        for line in lines { try append((line + "\n").utf8) }
    }

    /// Writes what has been added.
    ///
    /// - Throws: `SystemError`: EPIPE when nobody reads any more.
    mutating func flush() throws(SystemError) {
        guard !bytes.isEmpty else { return }
        try StandardStream.output.send(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Runs a command that prints: what `body` adds is written before the command ends, or it does not end well.
    ///
    /// - Throws: `ExitCode` when something could not be read or written, which was said, with `hint`; whatever else `body`
    ///   throws. Somebody who has read enough ends it in silence.
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
        Talk.complain("\(error)", hint: error.isOutOfSpace ? "free some space, and run it again" : hint)
        throw ExitCode.badInput
    }
}

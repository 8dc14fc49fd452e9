package import Document
import JSON
import JobFormat
import LinuxIO
import SpoolModel

/// Reads files with one JSON object per line. Memory use does not depend on the length of the file.
package enum JSONLines {
    /// A line of a file.
    package enum Line {
        /// The parsed object, and the line's bytes without the line feed.
        case good(Node, ArraySlice<UInt8>)
        /// The reason why the line cannot be parsed.
        case bad(String)
    }

    /// The longest line, far longer than any that the daemon writes.
    private static let lineByteLimit = 1 << 20
    private static let pieceByteCount = 1 << 18

    /// Calls `body` with each line and its number, from 1. Stops after a line that is too long.
    ///
    /// - Throws: `SystemError` if the file cannot be read; errors of `body`.
    static func read(_ file: borrowing OpenFile, _ body: (Int, Line) throws -> Void) throws {
        var parser = JSON.Parser(limits: DocumentLimits(byteCount: lineByteLimit))
        var lines = LineBuffer(limit: lineByteLimit)
        var (tape, offset, number) = (Tape(), Int64(0), 0)
        while true {
            switch lines.next() {
            case .line(let range, isTerminated: _):
                number += 1
                if lines.isBlank(range) { continue }
                let line = parse(lines.bytes, range, with: &parser, into: &tape)
                try body(number, line)
            case .tooLong:
                return try body(number + 1, .bad("the line has more than \(lineByteLimit) bytes"))
            case .needsMore:
                var piece: [UInt8] = []
                let count = try file.read(pieceByteCount, at: offset, appendingTo: &piece)
                offset += Int64(count)
                if count == 0 { lines.isFinished = true } else { lines.append(piece) }
            case .end: return
            }
        }
    }

    private static func parse(
        _ bytes: [UInt8], _ range: Range<Int>, with parser: inout JSON.Parser, into tape: inout Tape
    ) -> Line {
        do throws(Diagnostic) {
            try parser.parse(bytes, range: range, into: &tape)
        } catch {
            return .bad(error.message)
        }
        guard tape.root["v"]?.integer == FeedbackLine.version else {
            return .bad("it has another format version, or none")
        }
        return .good(tape.root, bytes[range])
    }
}

package import Document
import JSON
import JobFormat
import LinuxIO
import SpoolModel

/// Reads files with one JSON object per line. Memory use does not depend on the length of the file.
package struct JSONLines {
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

    private var parser = JSON.Parser(limits: DocumentLimits(byteCount: lineByteLimit))
    private var lines = LineBuffer(limit: lineByteLimit)
    private var (tape, offset, number) = (Tape(), Int64(0), 0)

    /// Calls `body` with each line and its number, from 1. Stops after a line that is too long.
    ///
    /// - Throws: `SystemError` if the file cannot be read; errors of `body`.
    static func read(_ file: borrowing OpenFile, _ body: (Int, Line) throws -> Void) throws {
        var reader = JSONLines()
        try reader.readOn(file, isWhole: true, body)
    }

    /// Calls `body` with each line that has not been read yet. If the file may grow, its last line counts once it has ended.
    mutating func readOn(_ file: borrowing OpenFile, isWhole: Bool, _ body: (Int, Line) throws -> Void) throws {
        while true {
            switch lines.next() {
            case .line(let range, isTerminated: _):
                number += 1
                if lines.isBlank(range) { continue }
                let line = parse(range)
                try body(number, line)
            case .tooLong:
                return try body(number + 1, .bad("the line has more than \(Self.lineByteLimit) bytes"))
            case .needsMore:
                var piece: [UInt8] = []
                let count = try file.read(Self.pieceByteCount, at: offset, appendingTo: &piece)
                offset += Int64(count)
                if count > 0 { lines.append(piece) } else if isWhole { lines.isFinished = true } else { return }
            case .end: return
            }
        }
    }

    private mutating func parse(_ range: Range<Int>) -> Line {
        do throws(Diagnostic) {
            try parser.parse(lines.bytes, range: range, into: &tape)
        } catch {
            return .bad(error.message)
        }
        guard tape.root["v"]?.integer == FeedbackLine.version else {
            return .bad("it has another format version, or none")
        }
        return .good(tape.root, lines.bytes[range])
    }
}

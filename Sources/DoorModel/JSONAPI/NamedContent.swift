package import Document
import JobFormat

/// Writes the value of `Idempotency-Key` as the `id` of a job into the job's beginning, which arrives bit by bit.
///
/// A job that has an `id` already then has two, which the reader refuses.
package struct NamedContent: Sendable {
    private let id: [UInt8]
    private let type: JobMediaType
    private var beginning: [UInt8] = []
    private var isOver = false
    private var (byteCount, hash) = (0, FNV1a())

    /// How long the first line of a `.jsonl` file may be.
    private static let lineLimit = 1 << 20

    /// The name without its quotes.
    package let key: String

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - key: The value of the field, in quotes or without.
    ///   - type: The form of the job.
    /// - Throws: The problem: the value has other characters than those of ASCII that can be seen, and blanks. Two values that
    ///   differ in others only might count as one.
    package init(key: String, type: JobMediaType) throws(APIProblem) {
        guard key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw APIProblem(
                400, "the Idempotency-Key has characters other than those of ASCII",
                remedy: "use letters, digits and - . _ :")
        }
        let isQuoted = key.count >= 2 && key.hasPrefix("\"") && key.hasSuffix("\"")
        self.key = isQuoted ? String(key.dropFirst().dropLast()) : key
        var writer = JSONWriter()
        writer.string(self.key)
        (id, self.type) = (writer.bytes, type)
    }

    /// The length and a hash of the job so far: tells a request that a client repeats from one that is another.
    package var fingerprint: [UInt64] { [UInt64(byteCount), hash.value] }

    /// Receives the next bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - parser: Reads the first line of a `.jsonl` job.
    /// - Returns: What to write for them.
    /// - Throws: The problem: the job's form has no place for the key.
    package mutating func receive(
        _ bytes: [UInt8], with parser: inout some DocumentParser
    ) throws(APIProblem) -> [UInt8] {
        byteCount += bytes.count
        hash.add(bytes.span)
        guard !isOver else { return bytes }
        beginning += bytes
        guard let start = contentStart else { return takeBlank() }
        let isEnough =
            type == .lines
            ? beginning[start...].contains(0x0A) || beginning.count > Self.lineLimit
            : beginning[start] != UInt8(ascii: "{") || firstSign(from: start + 1) != nil
        return isEnough ? try finish(with: &parser) : []
    }

    /// Ends the job.
    ///
    /// - Parameter parser: Reads the first line of a `.jsonl` job.
    /// - Returns: What to write at the end.
    /// - Throws: The problem: the job's form has no place for the key.
    package mutating func finish(with parser: inout some DocumentParser) throws(APIProblem) -> [UInt8] {
        guard !isOver else { return [] }
        isOver = true
        defer { beginning = [] }
        guard let start = contentStart else { return beginning }
        guard beginning[start] != 0xEF else {
            throw APIProblem(
                400, "a job that begins with a byte order mark has no place for an Idempotency-Key",
                remedy: "leave the mark out, or write `id` into the job")
        }
        switch type {
        case .json: return beginning[start] == UInt8(ascii: "{") ? member(after: start) : beginning
        case .yaml: return try line(before: start)
        case .lines: return lines(from: start, with: &parser)
        }
    }

    /// Where the job begins, behind white space and, in YAML, comments; `nil` if it has not yet.
    private var contentStart: Int? {
        guard type == .yaml else { return firstSign(from: 0) }
        var start = firstSign(from: 0)
        while let place = start, beginning[place] == UInt8(ascii: "#") {
            guard let end = beginning[place...].firstIndex(of: 0x0A) else { return nil }
            start = firstSign(from: end)
        }
        return start
    }

    /// Returns what comes before the job. Of YAML the last line stays: its indentation counts.
    private mutating func takeBlank() -> [UInt8] {
        let end = type == .yaml ? beginning.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0 : beginning.count
        defer { beginning.removeFirst(end) }
        return Array(beginning[..<end])
    }

    /// Inserts a line of YAML with the indentation of the first one.
    private func line(before start: Int) throws(APIProblem) -> [UInt8] {
        if beginning[start] == UInt8(ascii: "{") { return member(after: start) }
        guard ![0x25, 0x2D].contains(beginning[start]) else {
            throw APIProblem(
                400, "a job that begins with a marker or a directive has no place for an Idempotency-Key",
                remedy: "write `id` into the job")
        }
        let indentation =
            beginning[..<start].lastIndex(of: 0x0A).map { beginning[($0 + 1)..<start] } ?? beginning[..<start]
        return beginning[..<start] + Array("id: ".utf8) + id + [0x0A] + indentation + beginning[start...]
    }

    /// Inserts the member after an opening brace.
    private func member(after brace: Int) -> [UInt8] { insert("\"id\":", id, after: brace) }

    private func insert(_ name: String, _ value: [UInt8], after brace: Int) -> [UInt8] {
        let next = firstSign(from: brace + 1)
        let isAlone = next.map { beginning[$0] == UInt8(ascii: "}") } ?? false
        return beginning[...brace] + Array(name.utf8) + value + (isAlone ? [] : [UInt8(ascii: ",")])
            + beginning[(brace + 1)...]
    }

    /// Inserts the member into the first line if that describes the job, whatever else is in it; else puts such a line before it.
    private func lines(from start: Int, with parser: inout some DocumentParser) -> [UInt8] {
        let line = beginning[start...].prefix { $0 != 0x0A }
        let job = Array("{\"id\":".utf8) + id + [UInt8(ascii: "}")]
        // What is not JSON stays as it is: the reader refuses it.
        guard let tape = try? parser.parse(Array(line)) else { return beginning }
        guard tape.root.describesJob else {
            return beginning[..<start] + Array("{\"job\":".utf8) + job + Array("}\n".utf8) + beginning[start...]
        }
        guard let own = tape.root["job"] else {
            return insert("\"job\":", job, after: start + tape.root.rawRange.lowerBound)
        }
        let range = start + own.rawRange.lowerBound..<start + own.rawRange.upperBound
        if own.isNull { return beginning[..<range.lowerBound] + job + beginning[range.upperBound...] }
        return own.kind == .mapping ? member(after: range.lowerBound) : beginning
    }

    private func firstSign(from start: Int) -> Int? {
        guard start <= beginning.count else { return nil }
        return beginning[start...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    }
}

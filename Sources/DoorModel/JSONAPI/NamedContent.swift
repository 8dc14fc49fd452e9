import Document

/// Writes the value of `Idempotency-Key` as the `id` of a job into the job's beginning, which arrives bit by bit.
///
/// A job that has an `id` already then has two, which the reader refuses.
package struct NamedContent: Sendable {
    private let id: [UInt8]
    private let type: JobMediaType
    private var beginning: [UInt8] = []
    private var isOver = false

    /// How long the first line of a `.jsonl` file may be.
    private static let lineLimit = 1 << 20

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - key: The value of the field, in quotes or without.
    ///   - type: The form of the job.
    package init(key: String, type: JobMediaType) {
        let isQuoted = key.count >= 2 && key.hasPrefix("\"") && key.hasSuffix("\"")
        var writer = JSONWriter()
        writer.string(isQuoted ? String(key.dropFirst().dropLast()) : key)
        (id, self.type) = (writer.bytes, type)
    }

    /// Returns what to write for the next bytes.
    ///
    /// - Throws: The problem: the job's form has no place for the key.
    package mutating func take(_ bytes: [UInt8]) throws(APIProblem) -> [UInt8] {
        guard !isOver else { return bytes }
        beginning += bytes
        guard let start = contentStart else { return takeBlank() }
        let isEnough =
            type == .lines
            ? beginning[start...].contains(0x0A) || beginning.count > Self.lineLimit
            : beginning[start] != UInt8(ascii: "{") || firstSign(from: start + 1) != nil
        return isEnough ? try finish() : []
    }

    /// Returns what to write at the end.
    ///
    /// - Throws: The problem: the job's form has no place for the key.
    package mutating func finish() throws(APIProblem) -> [UInt8] {
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
        case .lines:
            if let place = headPlace(from: start) { return member(after: place) }
            let head = Array("{\"job\":{\"id\":".utf8) + id + Array("}}\n".utf8)
            return beginning[..<start] + head + beginning[start...]
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
    private func member(after brace: Int) -> [UInt8] {
        let next = firstSign(from: brace + 1)
        let isAlone = next.map { beginning[$0] == UInt8(ascii: "}") } ?? false
        let member = Array("\"id\":".utf8) + id + (isAlone ? [] : [UInt8(ascii: ",")])
        return beginning[...brace] + member + beginning[(brace + 1)...]
    }

    /// Returns the place of the brace in `{"job": {` if the first line begins like this.
    private func headPlace(from start: Int) -> Int? {
        var place = start
        for word in ["{", "\"job\"", ":", "{"] {
            guard let next = firstSign(from: place), beginning[next...].starts(with: word.utf8) else { return nil }
            place = next + word.utf8.count
        }
        return place - 1
    }

    private func firstSign(from start: Int) -> Int? {
        guard start <= beginning.count else { return nil }
        return beginning[start...].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    }
}

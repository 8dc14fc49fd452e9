package import JobFormat
package import JournalModel
package import PushModel

/// A record of a job that was sent, for detecting its duplicates: one line in a day's file.
///
/// CRC-32C of everything after the next space, 8 hexadecimal digits · space · when the job ended, RFC 3339, 24
/// characters · space · its id, 26 characters · space · its ref, with control characters and `%` as `%XX` · line feed
///
/// For a file, the ref is replaced by: `%=` · its sum, 64 hexadecimal digits · space · its inode · space · its birth
/// time, in nanoseconds since 1970, or `-`.
package struct RefRecord: Hashable, Sendable {
    /// The most bytes in a line, not counting its line feed.
    package static let lineByteLimit = keyStart + 3 * JobHeader.longestRef

    /// The offsets of the parts of a line.
    private static let timeStart = 9
    private static let idStart = 34
    private static let keyStart = 61
    /// A prefix that an encoded ref cannot have.
    private static let fileMark = Array("%=".utf8)
    private static let fileKeyCount = 66

    /// The job.
    package let job: SentTwin
    /// The job's sign as written in the line.
    package let key: [UInt8]
    /// The sign followed by the file's identity, if the sign is a file's.
    package let fileKey: [UInt8]?

    /// Creates the record of a job with a ref; the time is truncated to milliseconds when written.
    package init(_ ref: String, id: JobID, endedAt: WallTime) {
        job = SentTwin(id: id, endedAt: endedAt)
        (key, fileKey) = (Self.key(of: .ref(ref)), nil)
    }

    /// Creates the record of a job identified by its file.
    package init(_ file: FileSign, id: JobID, endedAt: WallTime) {
        job = SentTwin(id: id, endedAt: endedAt, isOfSameFile: true)
        (key, fileKey) = (Self.key(of: .file(file.sum)), Self.key(of: file))
    }

    /// Returns a job's sign as written in a line.
    package static func key(of sign: JobSign) -> [UInt8] {
        switch sign {
        case .ref(let ref): key(of: ref)
        case .file(let sum): fileMark + sum.flatMap { [upperCaseDigit($0 >> 4), upperCaseDigit($0 & 15)] }
        }
    }

    /// Returns a file's sum and identity as written in a line.
    package static func key(of file: FileSign) -> [UInt8] {
        key(of: .file(file.sum)) + Array(" \(file.inode) \(file.bornAt.map { "\($0)" } ?? "-")".utf8)
    }

    private static func key(of ref: String) -> [UInt8] {
        var key: [UInt8] = []
        for byte in ref.utf8 {
            if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "%") {
                key += [UInt8(ascii: "%"), upperCaseDigit(byte >> 4), upperCaseDigit(byte & 15)]
            } else {
                key.append(byte)
            }
        }
        return key
    }

    /// The line, with its line feed.
    package var line: [UInt8] {
        let rest = Array("\(job.endedAt.rfc3339) \(job.id) ".utf8) + (fileKey ?? key)
        return Self.digits(of: rest[...]) + [UInt8(ascii: " ")] + rest + [UInt8(ascii: "\n")]
    }

    /// Reads a line, without its line feed.
    ///
    /// - Returns: `nil` if it is not a complete record.
    package init?(line: ArraySlice<UInt8>) {
        guard let sign = Self.sign(inLine: line) else { return nil }
        let (time, name) = (Self.text(of: line, at: Self.timeStart, 24), Self.text(of: line, at: Self.idStart, 26))
        guard let endedAt = WallTime(rfc3339: time), let id = JobID(name) else { return nil }
        let isOfFile = Self.isOfFile(sign)
        self.job = SentTwin(id: id, endedAt: endedAt, isOfSameFile: isOfFile)
        (key, fileKey) = (Array(isOfFile ? sign.prefix(Self.fileKeyCount) : sign), isOfFile ? Array(sign) : nil)
    }

    /// Returns the keys under which a line can be found, the shortest first; `nil` if it is not a complete record.
    static func keys(inLine line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        sign(inLine: line).map { isOfFile($0) ? [$0.prefix(fileKeyCount), $0] : [$0] }
    }

    private static func isOfFile(_ sign: ArraySlice<UInt8>) -> Bool { sign.starts(with: fileMark) }

    private static func sign(inLine line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard line.count > keyStart, line.count <= lineByteLimit else { return nil }
        let rest = line.dropFirst(timeStart)
        guard line.starts(with: digits(of: rest) + [UInt8(ascii: " ")]) else { return nil }
        return line.dropFirst(keyStart)
    }

    private static func digits(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        let checksum = CRC32C.checksum(bytes.span)
        return stride(from: UInt32(28), through: 0, by: -4).map { upperCaseDigit(UInt8(checksum >> $0 & 15)) }
    }

    private static func text(of line: ArraySlice<UInt8>, at start: Int, _ count: Int) -> String {
        String(decoding: line.dropFirst(start).prefix(count), as: UTF8.self)
    }
}

extension JobSummary {
    /// Returns the records of a job that was sent, one for each of its signs.
    package func records(of id: JobID, endedAt: WallTime) -> [RefRecord] {
        var records: [RefRecord] = []
        if let ref = header.ref { records.append(RefRecord(ref, id: id, endedAt: endedAt)) }
        if let file { records.append(RefRecord(file, id: id, endedAt: endedAt)) }
        return records
    }
}

/// Splits a day's file into lines, piece by piece.
package struct RefLines: Sendable {
    private var rest: [UInt8] = []
    /// The offset of the unread bytes in the file.
    private var start: Int64 = 0

    /// Creates a reader at the beginning of a file.
    package init() {}

    /// Reads the next bytes, and calls `found` with each key of every complete line, and the line's offset.
    ///
    /// Skips anything that is not a record, or was cut off by a crash.
    package mutating func read(_ piece: [UInt8], _ found: (_ key: ArraySlice<UInt8>, _ offset: Int64) -> Void) {
        rest += piece
        var lineStart = 0
        while let end = rest[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
            for key in RefRecord.keys(inLine: rest[lineStart..<end]) ?? [] { found(key, start + Int64(lineStart)) }
            lineStart = end + 1
        }
        // No line is this long, so neither is the rest of this one a record: its checksum is not at its start.
        if rest.count - lineStart > RefRecord.lineByteLimit { lineStart = rest.count }
        rest.removeFirst(lineStart)
        start += Int64(lineStart)
    }
}

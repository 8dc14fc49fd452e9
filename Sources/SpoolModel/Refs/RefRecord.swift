package import APNSModel

/// That a job was sent which others may be the same as, as it stands in the file of a day: one line.
///
/// checksum of what follows the next space, CRC-32C, 8 hexadecimal digits · space · when it ended, RFC 3339, 24 characters ·
/// space · its id, 26 characters · space · its ref, in which controls and `%` are `%XX` · line feed
///
/// For a file the last is `%=` · its sum, 64 hexadecimal digits · space · its inode · space · when it was made, in nanoseconds
/// since 1970, or `-`.
package struct RefRecord: Hashable, Sendable {
    /// How long a line is at the most, its end not counted.
    package static let lineByteLimit = keyStart + 3 * JobHeader.longestRef

    /// Where the parts of a line begin.
    private static let timeStart = 9
    private static let idStart = 34
    private static let keyStart = 61
    /// What no ref begins with.
    private static let fileMark = Array("%=".utf8)
    private static let fileKeyCount = 66

    /// The job.
    package let job: EarlierJob
    /// What it is known by, as it stands in the line.
    package let key: [UInt8]
    /// The same with which file it was, of one that is known by its file.
    package let fileKey: [UInt8]?

    /// Creates the record of a job that is known by its ref; its time is cut to milliseconds.
    package init(_ ref: String, id: JobID, endedAt: WallTime) {
        job = EarlierJob(id: id, endedAt: endedAt)
        (key, fileKey) = (Self.key(of: .ref(ref)), nil)
    }

    /// Creates the record of a job that is known by its file.
    package init(_ file: FileSign, id: JobID, endedAt: WallTime) {
        job = EarlierJob(id: id, endedAt: endedAt, isOfSameFile: true)
        (key, fileKey) = (Self.key(of: .file(file.sum)), Self.key(of: file))
    }

    /// What a job is known by, as it stands in a line.
    package static func key(of sign: JobSign) -> [UInt8] {
        switch sign {
        case .ref(let ref): key(of: ref)
        case .file(let sum): fileMark + sum.flatMap { [upperCaseDigit($0 >> 4), upperCaseDigit($0 & 15)] }
        }
    }

    /// A file's sum, and which file it is, as they stand in a line.
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

    /// The line, with its end.
    package var line: [UInt8] {
        let rest = Array("\(job.endedAt.rfc3339) \(job.id) ".utf8) + (fileKey ?? key)
        return Self.digits(of: rest[...]) + [UInt8(ascii: " ")] + rest + [UInt8(ascii: "\n")]
    }

    /// Reads a line, without its end.
    ///
    /// - Returns: `nil` when it is no such line, or not all of it is there.
    package init?(line: ArraySlice<UInt8>) {
        guard let sign = Self.sign(inLine: line) else { return nil }
        let (time, name) = (Self.text(of: line, at: Self.timeStart, 24), Self.text(of: line, at: Self.idStart, 26))
        guard let endedAt = WallTime(rfc3339: time), let id = JobID(name) else { return nil }
        let isOfFile = Self.isOfFile(sign)
        self.job = EarlierJob(id: id, endedAt: endedAt, isOfSameFile: isOfFile)
        (key, fileKey) = (Array(isOfFile ? sign.prefix(Self.fileKeyCount) : sign), isOfFile ? Array(sign) : nil)
    }

    /// What a line's job is known by, as it stands there, the whole of it and what may be looked for; `nil` when it is no such
    /// line, or not all of it is there.
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
    /// That the job was sent, by all that it is known by.
    package func records(of id: JobID, endedAt: WallTime) -> [RefRecord] {
        var records: [RefRecord] = []
        if let ref = header.ref { records.append(RefRecord(ref, id: id, endedAt: endedAt)) }
        if let file { records.append(RefRecord(file, id: id, endedAt: endedAt)) }
        return records
    }
}

/// Takes the bytes of a day's file apart, a piece at a time.
package struct RefLines: Sendable {
    private var rest: [UInt8] = []
    /// Where what is left begins in the file.
    private var start: Int64 = 0

    /// Creates a reader at the beginning of a file.
    package init() {}

    /// Takes the next bytes, and tells what each whole line may be looked for by, as it stands there, and where it begins.
    ///
    /// What is no line, or was cut off by a crash, is passed over.
    package mutating func take(_ piece: [UInt8], _ found: (_ key: ArraySlice<UInt8>, _ offset: Int64) -> Void) {
        rest += piece
        var lineStart = 0
        while let end = rest[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
            for key in RefRecord.keys(inLine: rest[lineStart..<end]) ?? [] { found(key, start + Int64(lineStart)) }
            lineStart = end + 1
        }
        // Longer than any line: what is to come of it is none either, because its checksum is not in front of it.
        if rest.count - lineStart > RefRecord.lineByteLimit { lineStart = rest.count }
        rest.removeFirst(lineStart)
        start += Int64(lineStart)
    }
}

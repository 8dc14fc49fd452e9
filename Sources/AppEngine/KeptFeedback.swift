import APNSBinary
import LinuxIO
import PushModel
import SharedResources

/// The data of one reading of the feedback service, in a file that outlives the daemon.
final class KeptFeedback: Sendable {
    private let file: OpenFile

    /// Creates an empty file for one reading.
    ///
    /// - Throws: `SystemError`: do not poll the service, because its data could not be stored.
    init(app: String, at time: WallTime, in folder: Directory) throws(SystemError) {
        file = try folder.create(Array("feedback-\(app)-\(time.compact).raw".utf8), mode: 0o600)
        try folder.sync(.state)
    }

    /// Appends data. Blocks.
    ///
    /// - Throws: `SystemError`: stop reading from the service.
    func append(_ bytes: [UInt8]) throws(SystemError) {
        try file.write(bytes)
    }

    /// Makes the appended data survive a power loss. Blocks.
    ///
    /// - Throws: `SystemError`: stop reading from the service.
    func sync() throws(SystemError) {
        try file.syncData(.state)
    }

    /// Returns the names of an app's stored files, the oldest first. Removes empty files.
    ///
    /// - Throws: `SystemError`: the folder cannot be read; try again later.
    static func names(of app: String, in folder: Directory) throws(SystemError) -> [[UInt8]] {
        let (prefix, suffix) = (Array("feedback-\(app)-".utf8), Array(".raw".utf8))
        var kept: [[UInt8]] = []
        for name in try folder.names() where name.starts(with: prefix) && name.suffix(4).elementsEqual(suffix) {
            // A longer name of another app may begin with this app's name.
            guard name.count == prefix.count + 23 + suffix.count else { continue }
            if try folder.status(of: name)?.byteCount == 0 { try folder.unlink(name) } else { kept.append(name) }
        }
        return kept.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

/// Reads a stored file in pieces, regardless of its length.
final class KeptFeedbackReader {
    /// How many bytes are read at a time.
    static let pieceByteCount = 64 << 10

    private let file: OpenFile
    private var offset: Int64 = 0
    /// The bytes of an incomplete entry at the end of the last piece.
    private var rest: [UInt8] = []

    /// Opens a stored file.
    ///
    /// - Throws: `SystemError`: it cannot be opened.
    init(_ name: [UInt8], in folder: Directory) throws(SystemError) {
        file = try folder.openForReading(name)
    }

    /// Whether the file ends in an incomplete entry. Valid once the file has been read completely.
    var isCutOff: Bool { !rest.isEmpty }

    /// Reads the next piece. Blocks.
    ///
    /// - Parameter tokens: Receives the entries of the piece.
    /// - Returns: `false` at the end.
    /// - Throws: `SystemError`: for example EIO.
    func read(into tokens: inout GoneTokenGroup) throws(SystemError) -> Bool {
        let count = try file.read(Self.pieceByteCount, at: offset, appendingTo: &rest)
        offset += Int64(count)
        var start = 0
        while let entry = FeedbackTuple(decoding: rest.span.extracting(start...)) {
            start += entry.encodedByteCount
            tokens.add(entry)
        }
        rest.removeFirst(start)
        return count > 0
    }
}

extension ArchiveSync {
    /// Syncs the data read from a feedback service.
    ///
    /// - Throws: `SystemError`: the data may be lost.
    func sync(_ file: KeptFeedback) throws(SystemError) {
        try file.sync()
    }
}

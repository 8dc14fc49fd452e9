import APNSBinary
import APNSModel
import LinuxIO

/// The bytes of one reading of the feedback service, in a file that outlives the daemon.
final class KeptFeedback: Sendable {
    private let file: OpenFile

    /// Makes an empty file for one reading.
    ///
    /// - Throws: `SystemError`: do not ask the service, what it says could not be kept.
    init(app: String, at time: WallTime, in folder: Directory) throws(SystemError) {
        file = try folder.create(Array("feedback-\(app)-\(time.compact).raw".utf8), mode: 0o600)
        try folder.sync(.state)
    }

    /// Adds bytes. Blocks.
    ///
    /// - Throws: `SystemError`: read no more from the service.
    func append(_ bytes: [UInt8]) throws(SystemError) {
        try file.write(bytes)
    }

    /// Makes what was added survive a power loss. Blocks.
    ///
    /// - Throws: `SystemError`: read no more from the service.
    func sync() throws(SystemError) {
        try file.syncData(.state)
    }

    /// Returns the names of what is kept of an app, the oldest first. Empty files are removed.
    ///
    /// - Throws: `SystemError`: the folder cannot be read; try again later.
    static func names(of app: String, in folder: Directory) throws(SystemError) -> [[UInt8]] {
        let (prefix, suffix) = (Array("feedback-\(app)-".utf8), Array(".raw".utf8))
        var kept: [[UInt8]] = []
        for name in try folder.names() where name.starts(with: prefix) && name.suffix(4).elementsEqual(suffix) {
            // A longer name of another app may begin with this one's.
            guard name.count == prefix.count + 23 + suffix.count else { continue }
            if try folder.status(of: name)?.byteCount == 0 { try folder.unlink(name) } else { kept.append(name) }
        }
        return kept.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

/// Reads a kept file a piece at a time, however long it is.
final class KeptFeedbackReader {
    /// How many bytes are read at a time.
    static let pieceByteCount = 64 << 10

    private let file: OpenFile
    private var offset: Int64 = 0
    /// What was read and is not a whole entry yet: less than the longest one.
    private var rest: [UInt8] = []

    /// Opens a kept file.
    ///
    /// - Throws: `SystemError`: it cannot be opened.
    init(_ name: [UInt8], in folder: Directory) throws(SystemError) {
        file = try folder.openForReading(name)
    }

    /// Whether bytes are left over that are no whole entry, once all is read.
    var isCutOff: Bool { !rest.isEmpty }

    /// Reads the next piece. Blocks for the file.
    ///
    /// - Parameter tokens: gets the entries of the piece.
    /// - Returns: `false` at the end.
    /// - Throws: `SystemError`: EIO and the like.
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

/// Entries of the feedback service that are published together, each token once, with the newest of its times.
struct GoneTokenGroup {
    /// How many tokens, and how many bytes of them, are enough to be published: their lines come to less than 4 MiB.
    static let limits = (tokens: 16_384, bytes: 1 << 20)

    private var order: [DeviceToken] = []
    private var goneSince: [DeviceToken: UInt32] = [:]
    private var byteCount = 0

    /// Whether it holds as much as is published together.
    var isFull: Bool { order.count >= Self.limits.tokens || byteCount >= Self.limits.bytes }

    /// Whether there is nothing to publish.
    var isEmpty: Bool { order.isEmpty }

    /// Adds an entry; one without a token says nothing.
    mutating func add(_ entry: FeedbackTuple) {
        guard !entry.token.bytes.isEmpty else { return }
        if let known = goneSince[entry.token] {
            goneSince[entry.token] = max(known, entry.epochSeconds)
        } else {
            goneSince[entry.token] = entry.epochSeconds
            order.append(entry.token)
            byteCount += entry.token.bytes.count
        }
    }

    /// Takes all that it holds, in the order in which tokens were first named.
    mutating func takeAll() -> [FeedbackTuple] {
        let entries = order.map { FeedbackTuple(epochSeconds: goneSince[$0] ?? 0, token: $0) }
        self = GoneTokenGroup()
        return entries
    }
}

import APNSBinary
import PushModel
import Testing

/// A notification of a test, as its token spells it: the job in one byte, the index in three.
struct Name: Hashable, Comparable, CustomStringConvertible {
    let job: Int
    let index: Int

    init(job: Int, index: Int) {
        (self.job, self.index) = (job, index)
    }

    /// The notification with this token; `nil` for the flush probe.
    init?(token: some Collection<UInt8>) {
        let bytes = Array(token)
        guard bytes.count == 4 else { return nil }
        self.init(job: Int(bytes[0]), index: Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3]))
    }

    var token: [UInt8] {
        [UInt8(job), UInt8(index >> 16 & 0xFF), UInt8(index >> 8 & 0xFF), UInt8(index & 0xFF)]
    }

    var description: String { "\(job)/\(index)" }

    static func < (left: Name, right: Name) -> Bool { (left.job, left.index) < (right.job, right.index) }
}

extension Batch {
    /// Notifications that carry their names as tokens.
    static func named(
        _ indices: Range<Int>, job: Int = 1, onDoubt: OnDoubt = .resend, attributes: Attributes = Attributes()
    ) -> Batch {
        var tokens = PackedBytes()
        for index in indices { tokens.append(Name(job: job, index: index).token) }
        let header = Header(job: JobID(bits: UInt128(job)), attributes: attributes, onDoubt: onDoubt)
        return Batch(
            header: header, firstIndex: indices.lowerBound, addresses: tokens,
            payloads: .shared(Payload(bytes: Array("{}".utf8))))
    }

    /// The names of its notifications.
    var names: [Name] { indices.map { Name(job: Int(job.bits), index: $0) } }
}

/// Reads all whole notifications that a stream begins with.
func frames(of bytes: [UInt8]) throws -> [(frame: NotificationFrame, token: [UInt8])] {
    var (start, found): (Int, [(frame: NotificationFrame, token: [UInt8])]) = (0, [])
    while true {
        let rest = bytes[start...]
        guard let frame = try NotificationFrame(decoding: rest.span) else { return found }
        found.append((frame, Array(rest[start + frame.token.lowerBound..<start + frame.token.upperBound])))
        start += frame.byteCount
    }
}

extension SendQueue {
    /// Takes what must be there.
    mutating func some(atMost limit: Int) throws -> Batch {
        let batch = next(atMost: limit)
        return try #require(batch)
    }
}

extension NotificationFrame {
    init?(_ bytes: some Sequence<UInt8>) throws(DecodingError) {
        let bytes = Array(bytes)
        try self.init(decoding: bytes.span)
    }
}

extension ErrorReply {
    init?(_ bytes: some Sequence<UInt8>) throws(DecodingError) {
        let bytes = Array(bytes)
        try self.init(decoding: bytes.span)
    }
}

extension FeedbackTuple {
    init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        self.init(decoding: bytes.span)
    }
}

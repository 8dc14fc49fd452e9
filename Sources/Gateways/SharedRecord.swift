import HTTP2
import OpenSSL
import SecureTransport

/// Requests on their way to a TLS stream. Those of small jobs share a record, which costs as much as a long one.
///
/// It holds no more than one record: `DeliveryMarks` has to know where each one ends.
struct SharedRecord {
    /// The most bytes in a record (RFC 8446 §5.1).
    private static let byteLimit = 16_384

    private var bytes: [UInt8] = []
    private var earlierEnd: Int?

    /// Whether all requests are encrypted.
    var isEmpty: Bool { bytes.isEmpty }

    /// Removes and returns the length of the stream behind the requests that had to be encrypted before the last ones.
    mutating func takeEarlierEnd() -> Int? { earlierEnd.take() }

    /// Adds requests. Encrypts those before them if they do not fit into their record, and long ones themselves.
    mutating func add(_ frames: Span<UInt8>, to stream: SecureStream) throws(TLSError) {
        let isLong = frames.count > Self.byteLimit / 2
        if isLong || bytes.count + frames.count > Self.byteLimit, try encrypt(on: stream) {
            earlierEnd = stream.encryptedByteCount
        }
        if isLong { try stream.write(frames) } else { bytes.append(copying: frames) }
    }

    /// Encrypts the requests, if there are any.
    ///
    /// - Returns: Whether there were.
    mutating func encrypt(on stream: SecureStream) throws(TLSError) -> Bool {
        guard !isEmpty else { return false }
        try stream.write(bytes.span)
        bytes.removeAll(keepingCapacity: true)
        return true
    }
}

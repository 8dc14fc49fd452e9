package import APNSModel
import PushModel

/// One entry of the feedback service: the token of a removed app, and the time of the removal.
///
/// offset 0: seconds since 1970, 4 bytes, unsigned · offset 4: token length *n*, 2 bytes · offset 6: *n* bytes
package struct FeedbackTuple: Hashable, Sendable {
    /// When the gateway decided that the app was removed, in seconds. The timestamp of an HTTP/2 410 is in
    /// milliseconds.
    package let epochSeconds: UInt32
    /// The token, of any length, including 0.
    package let token: DeviceToken

    /// Creates a tuple.
    package init(epochSeconds: UInt32, token: DeviceToken) {
        self.epochSeconds = epochSeconds
        self.token = token
    }

    /// Its length on the wire, in bytes.
    package var encodedByteCount: Int { 6 + token.bytes.count }

    /// Decodes the tuple at the start of `bytes`.
    ///
    /// - Returns: `nil` when more bytes are needed. Every byte string is a valid start of a tuple.
    package init?(decoding bytes: Span<UInt8>) {
        guard bytes.count >= 6 else { return nil }
        let end = 6 + Int(bytes.bigEndianUInt16(at: 4))
        guard bytes.count >= end else { return nil }
        self.epochSeconds = bytes.bigEndianUInt32(at: 0)
        var token: [UInt8] = []
        token.reserveCapacity(end - 6)
        for offset in 6..<end { token.append(bytes[offset]) }
        self.token = DeviceToken(bytes: token)
    }

    /// Appends the tuple's bytes.
    ///
    /// - Precondition: The token has at most 65,535 bytes.
    package func encode(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: epochSeconds)
        bytes.append(bigEndian: UInt16(token.bytes.count))
        bytes.append(contentsOf: token.bytes)
    }
}

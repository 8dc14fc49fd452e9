/// The reason why a stream or a connection ended (RFC 9113 §7). Unknown codes are preserved.
package struct ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// No error: a graceful shutdown.
    package static let noError = ErrorCode(rawValue: 0x0)
    /// A protocol violation that no other code describes.
    package static let protocolError = ErrorCode(rawValue: 0x1)
    /// The peer had an internal error.
    package static let internalError = ErrorCode(rawValue: 0x2)
    /// The sender exceeded a window, or a window grew beyond 2³¹ − 1.
    package static let flowControlError = ErrorCode(rawValue: 0x3)
    /// The SETTINGS were not acknowledged in time.
    package static let settingsTimeout = ErrorCode(rawValue: 0x4)
    /// A frame arrived for a stream that had ended.
    package static let streamClosed = ErrorCode(rawValue: 0x5)
    /// A frame is too long or does not have the length that its type requires.
    package static let frameSizeError = ErrorCode(rawValue: 0x6)
    /// The stream was not processed at all: the request may be resent on any connection.
    package static let refusedStream = ErrorCode(rawValue: 0x7)
    /// The stream was cancelled.
    package static let cancel = ErrorCode(rawValue: 0x8)
    /// The header tables of the two sides no longer agree.
    package static let compressionError = ErrorCode(rawValue: 0x9)
    /// The connection of a CONNECT request failed.
    package static let connectError = ErrorCode(rawValue: 0xa)
    /// The peer causes excessive work.
    package static let enhanceYourCalm = ErrorCode(rawValue: 0xb)
    /// The transport is not secure enough.
    package static let inadequateSecurity = ErrorCode(rawValue: 0xc)
    /// The peer requires HTTP/1.1.
    package static let http11Required = ErrorCode(rawValue: 0xd)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    package var description: String {
        rawValue < Self.names.count ? Self.names[Int(rawValue)] : "error \(rawValue)"
    }
}

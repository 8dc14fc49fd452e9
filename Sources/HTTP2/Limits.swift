/// The limits on the memory and work that a peer may cause. Exceeding one ends the stream or the connection.
///
/// The machine has no clock, so it measures floods against progress: a response, a body byte in either direction, the
/// end of a stream, an answered PING, or a call of `ConnectionMachine.passWhile`.
package struct Limits: Hashable, Sendable {
    /// Encoded bytes of one header block, over HEADERS and all of its CONTINUATION frames.
    package var headerBlockByteCount = 32 * 1024
    /// CONTINUATION frames of one header block.
    package var continuationCount = 16
    /// Bytes of one decoded header list, counted as in RFC 9113 §6.5.2. Announced to the peer as
    /// SETTINGS_MAX_HEADER_LIST_SIZE.
    package var headerListByteCount = 16 * 1024
    /// Bytes of one response body. A stream with a longer one is reset.
    package var bodyByteCount = 32 * 1024
    /// Bytes of all incomplete responses.
    package var heldByteCount = 8 * 1024 * 1024
    /// Frames without effect on a request between two signs of progress (see `ConnectionMachine.passWhile`): PING,
    /// SETTINGS, PRIORITY, WINDOW_UPDATE, empty DATA, interim responses, frames of unknown types or for streams that
    /// have ended.
    package var idleFrameCount = 10_000
    /// Streams in a row that either side ended with RST_STREAM, without a response between them.
    package var resetCount = 10_000
    /// Bytes that `output` may hold when another answer (ACK, RST_STREAM, WINDOW_UPDATE) is queued.
    package var answerByteCount = 4 * 1024 * 1024
    /// Bytes of the receive window for the whole connection, 65,535 … 2³¹ − 1.
    package var connectionWindowByteCount = 4 * 1024 * 1024
    /// Bytes of DATA that one call of `ConnectionMachine.pump` writes at most.
    package var pumpByteCount = 256 * 1024

    /// Creates limits that a push gateway never comes near.
    package init() {}
}

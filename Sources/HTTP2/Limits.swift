/// How much a peer may make us keep or do. What goes beyond ends the stream or the connection.
///
/// There is no clock here, so floods are counted against progress: a response, a body byte either way, a stream that
/// ends, an answered PING, or the owner's word that a while has passed.
package struct Limits: Hashable, Sendable {
    /// Encoded bytes of one header block, over HEADERS and all of its CONTINUATION frames.
    package var headerBlockByteCount = 32 * 1024
    /// CONTINUATION frames of one header block.
    package var continuationCount = 16
    /// Bytes of one decoded header list, counted as in RFC 9113 §6.5.2. The peer is told (SETTINGS_MAX_HEADER_LIST_SIZE).
    package var headerListByteCount = 16 * 1024
    /// Bytes of one response body. A longer one costs its stream.
    package var bodyByteCount = 32 * 1024
    /// Bytes of all responses that have begun and not ended.
    package var heldByteCount = 8 * 1024 * 1024
    /// Frames without any effect on a request, between two signs of progress (`ConnectionMachine.passWhile`): PING, SETTINGS, PRIORITY, WINDOW_UPDATE,
    /// empty DATA, interim responses, frames of unknown types or for streams that have ended.
    package var idleFrameCount = 10_000
    /// Streams in a row that ended in RST_STREAM, by either side, without a response between them.
    package var resetCount = 10_000
    /// Bytes that may wait in `output` when another answer (ACK, RST_STREAM, WINDOW_UPDATE) has to be added.
    package var answerByteCount = 4 * 1024 * 1024
    /// Bytes the peer may send before we hand the window back: our receive window for the whole connection,
    /// 65,535 … 2³¹ − 1.
    package var connectionWindowByteCount = 4 * 1024 * 1024
    /// Bytes of DATA that one call of `ConnectionMachine.pump` writes at most.
    package var pumpByteCount = 256 * 1024

    /// The limits a push gateway never comes near.
    package init() {}
}

/// Counts what a peer sends without any progress. See `Limits`.
struct FloodGauge: Sendable {
    private var idleFrames = 0
    private var resets = 0

    /// Something useful happened, or a while has passed.
    mutating func progress() {
        idleFrames = 0
    }

    /// A response came.
    mutating func response() {
        idleFrames = 0
        resets = 0
    }

    /// Counts a frame without any effect on a request.
    ///
    /// - Throws: The fault of too many in a row.
    mutating func idleFrame(limit: Int) throws(ConnectionFault) {
        idleFrames += 1
        guard idleFrames <= limit else {
            throw ConnectionFault(.enhanceYourCalm, "\(limit) frames without progress")
        }
    }

    /// Counts a stream that was reset.
    ///
    /// - Throws: The fault of too many in a row.
    mutating func reset(limit: Int) throws(ConnectionFault) {
        idleFrames = 0
        resets += 1
        guard resets <= limit else {
            throw ConnectionFault(.enhanceYourCalm, "\(limit) streams reset without a response")
        }
    }
}

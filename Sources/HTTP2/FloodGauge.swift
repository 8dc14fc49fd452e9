/// Counts the frames and resets that make no progress. See `Limits`.
struct FloodGauge: Sendable {
    private var idleFrames = 0
    private var resets = 0

    /// Resets the count of idle frames, after progress or after an interval.
    mutating func progress() {
        idleFrames = 0
    }

    /// Resets both counts after a response.
    mutating func response() {
        idleFrames = 0
        resets = 0
    }

    /// Counts a frame that has no effect on a request.
    ///
    /// - Throws: The fault if there were more than `limit` in a row.
    mutating func idleFrame(limit: Int) throws(ConnectionFault) {
        idleFrames += 1
        guard idleFrames <= limit else {
            throw ConnectionFault(.enhanceYourCalm, "\(limit) frames without progress")
        }
    }

    /// Counts a stream that was reset.
    ///
    /// - Throws: The fault if there were more than `limit` in a row.
    mutating func reset(limit: Int) throws(ConnectionFault) {
        idleFrames = 0
        resets += 1
        guard resets <= limit else {
            throw ConnectionFault(.enhanceYourCalm, "\(limit) streams reset without a response")
        }
    }
}

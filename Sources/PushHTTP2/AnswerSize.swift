/// How many bytes an answer takes on the wire, with its share of everything else that the gateway sends.
///
/// Less is believed at once, and more slowly: other frames, or those of a quiet hour, only make it look like more.
struct AnswerSize {
    private var mean: Int?
    private var last: (byteCount: Int, answered: Int)?

    /// Notes how many bytes were read and how many requests were answered so far.
    ///
    /// - Returns: The mean; `nil` before the second group of answers, since the handshake and SETTINGS precede the first.
    mutating func note(_ byteCount: Int, answered: Int) -> Int? {
        if let last, answered > last.answered {
            let found = max(1, (byteCount - last.byteCount) / (answered - last.answered))
            let known = mean ?? found
            mean = found < known ? found : known + min(found - known, known) / 8
        }
        last = (byteCount, answered)
        return mean
    }
}

/// Parses a proxy's answer to `CONNECT` as it arrives, trusting as little of it as possible.
struct ProxyAnswer {
    /// The state of the request.
    enum State: Hashable {
        /// The head has not ended yet.
        case incomplete
        /// The tunnel is open; these bytes have already come through it.
        case open(rest: [UInt8])
        /// The proxy refused.
        case refused(status: Int, reason: String)
        /// The answer is not HTTP.
        case notHTTP
        /// The answer is too long.
        case tooLong
    }

    /// The maximum length of the head in bytes, including interim answers.
    static let headLimit = 8192
    private static let start = Array("HTTP/".utf8)

    private var bytes: [UInt8] = []
    private var allowance = ProxyAnswer.headLimit

    /// Processes arrived bytes.
    ///
    /// - Returns: The current state. Do not call again after anything but `.incomplete`.
    mutating func receive(_ piece: ArraySlice<UInt8>) -> State {
        bytes.append(contentsOf: piece)
        while true {
            guard zip(bytes, Self.start).allSatisfy(==) else { return .notHTTP }
            guard let end = headEnd else { return bytes.count > allowance ? .tooLong : .incomplete }
            guard end <= allowance else { return .tooLong }
            guard let (status, reason) = statusLine else { return .notHTTP }
            switch status {
            // An interim answer.
            case 100..<200:
                bytes.removeFirst(end)
                allowance -= end
            case 200..<300: return .open(rest: Array(bytes[end...]))
            default: return .refused(status: status, reason: reason)
            }
        }
    }

    /// The end of the head's empty line, if it has arrived.
    private var headEnd: Int? {
        var isLineEmpty = false
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 0x0A where isLineEmpty: return index + 1
            case 0x0A: isLineEmpty = true
            case 0x0D: continue
            default: isLineEmpty = false
            }
        }
        return nil
    }

    /// The status and the reason, which is the proxy's own text, limited to 60 printable characters.
    private var statusLine: (status: Int, reason: String)? {
        let line = bytes.prefix { $0 != 0x0D && $0 != 0x0A }
        let words = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[1].count == 3, let status = Int(String(decoding: words[1], as: UTF8.self)),
            (100..<1000).contains(status)
        else { return nil }
        let reason = words.count > 2 ? words[2].filter { (0x20...0x7E).contains($0) }.prefix(60) : []
        return (status, String(decoding: reason, as: UTF8.self))
    }
}

/// Reads a proxy's answer to `CONNECT` from pieces as they come, and believes no more of it than it must.
struct ProxyAnswer {
    /// What has become of the wish.
    enum State: Hashable {
        /// The head has not ended yet.
        case incomplete
        /// The way is open; these bytes came through it already.
        case open(rest: [UInt8])
        /// The proxy will not.
        case refused(status: Int, reason: String)
        /// It is no answer of HTTP.
        case notHTTP
        /// It is longer than any answer needs to be.
        case tooLong
    }

    /// The longest head, in bytes, those of answers before the answer included.
    static let headLimit = 8192
    private static let start = Array("HTTP/".utf8)

    private var bytes: [UInt8] = []
    private var allowance = ProxyAnswer.headLimit

    /// Takes what came.
    ///
    /// - Returns: What is known now. After anything but `.incomplete` ask no more.
    mutating func receive(_ piece: ArraySlice<UInt8>) -> State {
        bytes.append(contentsOf: piece)
        while true {
            guard zip(bytes, Self.start).allSatisfy(==) else { return .notHTTP }
            guard let end = headEnd else { return bytes.count > allowance ? .tooLong : .incomplete }
            guard end <= allowance else { return .tooLong }
            guard let (status, reason) = statusLine else { return .notHTTP }
            switch status {
            // An answer before the answer.
            case 100..<200:
                bytes.removeFirst(end)
                allowance -= end
            case 200..<300: return .open(rest: Array(bytes[end...]))
            default: return .refused(status: status, reason: reason)
            }
        }
    }

    /// Where the head's empty line ends, if it has come.
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

    /// The status and the reason, which is the proxy's own text: at most 60 printable characters.
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

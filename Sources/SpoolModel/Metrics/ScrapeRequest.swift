/// A request for metrics as it arrives: as much of HTTP/1.1 as `GET /metrics` takes (RFC 9112), and nothing is kept of it.
///
/// One request a connection. Header fields are not looked at, a body is not read.
package struct ScrapeRequest: Sendable {
    /// How a request is answered.
    package enum Answer: Int, CaseIterable, Hashable, Sendable {
        /// With the metrics.
        case metrics = 200
        /// It is no HTTP.
        case badRequest = 400
        /// It asks for something else.
        case notFound = 404
        /// It does not ask, but wants something done.
        case methodNotAllowed = 405
        /// Its head is too long.
        case headTooLong = 431
        /// It is of another HTTP than 1.0 and 1.1.
        case versionNotSupported = 505

        /// The words behind the number.
        var reason: String {
            switch self {
            case .metrics: "OK"
            case .badRequest: "Bad Request"
            case .notFound: "Not Found"
            case .methodNotAllowed: "Method Not Allowed"
            case .headTooLong: "Request Header Fields Too Large"
            case .versionNotSupported: "HTTP Version Not Supported"
            }
        }
    }

    /// How long the head may be, in bytes.
    package static let headByteLimit = 8_192
    /// What can be asked for.
    package static let path = "/metrics"

    private static let headEnd: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]

    private var head: [UInt8] = []
    /// How much of the head's end has just been read.
    private var endByteCount = 0

    /// Nothing has arrived yet.
    package init() {}

    /// Takes bytes as they arrive, in any pieces.
    ///
    /// - Returns: how to answer; `nil` while the head has not ended. What comes behind its end is not looked at.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> Answer? {
        for byte in bytes {
            head.append(byte)
            if byte == Self.headEnd[endByteCount] {
                endByteCount += 1
            } else {
                endByteCount = byte == Self.headEnd[0] ? 1 : 0
            }
            if endByteCount == Self.headEnd.count { return answer }
            if head.count >= Self.headByteLimit { return .headTooLong }
        }
        return nil
    }

    /// The whole response; the connection ends with it.
    package static func response(_ answer: Answer, metrics: [UInt8]) -> [UInt8] {
        let body = answer == .metrics ? metrics : []
        var head = "HTTP/1.1 \(answer.rawValue) \(answer.reason)\r\n"
        if answer == .metrics { head += "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n" }
        if answer == .methodNotAllowed { head += "Allow: GET\r\n" }
        head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + body
    }

    /// What the request line says.
    private var answer: Answer {
        let line = head.prefix { $0 != 0x0D }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x21...0x7E).contains($0) } })
        else { return .badRequest }
        guard words[2].starts(with: "HTTP/".utf8) else { return .badRequest }
        guard words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8) else {
            return .versionNotSupported
        }
        // What is asked for may carry parameters, which mean nothing here.
        let path = words[1].prefix { $0 != UInt8(ascii: "?") }
        guard path.elementsEqual(Self.path.utf8) else { return .notFound }
        return words[0].elementsEqual("GET".utf8) ? .metrics : .methodNotAllowed
    }
}

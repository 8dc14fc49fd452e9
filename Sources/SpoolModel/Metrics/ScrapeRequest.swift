/// A request for metrics as it arrives: the subset of HTTP/1.1 that `GET /metrics` needs (RFC 9112).
///
/// One request per connection. Header fields are ignored, and a body is not read.
package struct ScrapeRequest: Sendable {
    /// The answer to a request.
    package enum Answer: Int, CaseIterable, Hashable, Sendable {
        /// The metrics.
        case metrics = 200
        /// The request is not HTTP.
        case badRequest = 400
        /// The path is not `/metrics`.
        case notFound = 404
        /// The method is not GET.
        case methodNotAllowed = 405
        /// The head is too long.
        case headTooLong = 431
        /// The HTTP version is neither 1.0 nor 1.1.
        case versionNotSupported = 505

        /// The reason phrase of the status line.
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

    /// The most bytes in a head.
    package static let headByteLimit = 8_192
    /// The path of the metrics.
    package static let path = "/metrics"

    private static let headEnd: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]

    private var head: [UInt8] = []
    /// How many bytes of the head's end have just been matched.
    private var endByteCount = 0

    /// Creates a request without any bytes.
    package init() {}

    /// Adds bytes as they arrive, in pieces of any size.
    ///
    /// - Returns: The answer; `nil` until the head is complete. Bytes after the head are ignored.
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

    /// Returns the whole response, after which the connection is closed.
    package static func response(_ answer: Answer, metrics: [UInt8]) -> [UInt8] {
        let body = answer == .metrics ? metrics : []
        var head = "HTTP/1.1 \(answer.rawValue) \(answer.reason)\r\n"
        if answer == .metrics { head += "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n" }
        if answer == .methodNotAllowed { head += "Allow: GET\r\n" }
        head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + body
    }

    /// The answer to the request line.
    private var answer: Answer {
        let line = head.prefix { $0 != 0x0D }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x21...0x7E).contains($0) } })
        else { return .badRequest }
        guard words[2].starts(with: "HTTP/".utf8) else { return .badRequest }
        guard words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8) else {
            return .versionNotSupported
        }
        // A query in the path is ignored.
        let path = words[1].prefix { $0 != UInt8(ascii: "?") }
        guard path.elementsEqual(Self.path.utf8) else { return .notFound }
        return words[0].elementsEqual("GET".utf8) ? .metrics : .methodNotAllowed
    }
}

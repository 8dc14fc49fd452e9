/// A request for metrics or a probe as it arrives: the subset of HTTP/1.1 that `GET /metrics` needs (RFC 9112).
///
/// One request per connection. Header fields only have to be sound, and a body is not read.
package struct ScrapeRequest: Sendable {
    /// What can be requested, by its path.
    package enum Page: String, CaseIterable, Hashable, Sendable {
        /// The metrics.
        case metrics = "/metrics"
        /// Whether the process is alive: its threads answer.
        case live = "/livez"
        /// Whether the process can do its work.
        case ready = "/readyz"

        fileprivate var contentType: String {
            switch self {
            case .metrics: "text/plain; version=0.0.4; charset=utf-8"
            case .live, .ready: "text/plain; charset=utf-8"
            }
        }
    }

    /// The content of a page.
    package struct Content: Hashable, Sendable {
        /// The text.
        package let bytes: [UInt8]
        /// Whether the status is 200, not 503.
        package let isGood: Bool

        /// Creates a content.
        package init(_ bytes: [UInt8], isGood: Bool = true) { (self.bytes, self.isGood) = (bytes, isGood) }
    }

    /// Why a request gets no page.
    package enum Fault: Int, Error, CaseIterable, Hashable, Sendable {
        /// The request is not HTTP.
        case badRequest = 400
        /// There is no such page.
        case notFound = 404
        /// The method is not GET.
        case methodNotAllowed = 405
        /// The head is too long.
        case headTooLong = 431
        /// The HTTP version is neither 1.0 nor 1.1.
        case versionNotSupported = 505

        /// The reason phrase of the status line.
        fileprivate var reason: String {
            switch self {
            case .badRequest: "Bad Request"
            case .notFound: "Not Found"
            case .methodNotAllowed: "Method Not Allowed"
            case .headTooLong: "Request Header Fields Too Large"
            case .versionNotSupported: "HTTP Version Not Supported"
            }
        }
    }

    /// The answer to a request.
    package typealias Answer = Result<Page, Fault>

    /// The most bytes in a head.
    package static let headByteLimit = 8_192

    private static let headEnd: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]

    private var head: [UInt8] = []
    /// How many bytes of the head's end have just been matched.
    private var endByteCount = 0

    /// Creates a request without any bytes.
    package init() {}

    /// Receives bytes as they arrive, in pieces of any size.
    ///
    /// - Returns: The answer; `nil` until the head is complete. Bytes after the head are ignored.
    package mutating func receive(_ bytes: some Sequence<UInt8>) -> Answer? {
        for byte in bytes {
            head.append(byte)
            if byte == Self.headEnd[endByteCount] {
                endByteCount += 1
            } else {
                endByteCount = byte == Self.headEnd[0] ? 1 : 0
            }
            if endByteCount == Self.headEnd.count { return answer }
            if head.count >= Self.headByteLimit { return .failure(.headTooLong) }
        }
        return nil
    }

    /// Returns the whole response with a page, after which the connection is closed.
    package static func response(_ page: Page, _ content: Content) -> [UInt8] {
        let status = content.isGood ? "200 OK" : "503 Service Unavailable"
        return response(status, "Content-Type: \(page.contentType)\r\n", content.bytes)
    }

    /// Returns the whole response to a request that gets no page, after which the connection is closed.
    package static func response(_ fault: Fault) -> [UInt8] {
        response("\(fault.rawValue) \(fault.reason)", fault == .methodNotAllowed ? "Allow: GET\r\n" : "", [])
    }

    private static func response(_ status: String, _ fields: String, _ body: [UInt8]) -> [UInt8] {
        let length = "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return Array("HTTP/1.1 \(status)\r\n\(fields)\(length)".utf8) + body
    }

    /// The answer to a head.
    private var answer: Answer {
        let lines = head.dropLast(Self.headEnd.count).split(separator: 0x0A, omittingEmptySubsequences: false)
        // Each line but the last one ends with CR before its LF, and there is no other one.
        let isEnded = lines.dropLast().allSatisfy { $0.last == 0x0D } && lines.last?.last != 0x0D
        let parts = lines.map { $0.last == 0x0D ? $0.dropLast() : $0 }
        guard isEnded, let line = parts.first else { return .failure(.badRequest) }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, words.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x21...0x7E).contains($0) } })
        else { return .failure(.badRequest) }
        guard words[2].starts(with: "HTTP/".utf8) else { return .failure(.badRequest) }
        guard words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8) else {
            return .failure(.versionNotSupported)
        }
        guard Self.areSound(parts.dropFirst()) else { return .failure(.badRequest) }
        let path = String(decoding: Self.path(in: words[1]), as: UTF8.self)
        guard let page = Page(rawValue: path) else { return .failure(.notFound) }
        return words[0].elementsEqual("GET".utf8) ? .success(page) : .failure(.methodNotAllowed)
    }

    /// The path of a target, which may be a whole URI (RFC 9112 §3.2.2), without its query.
    private static func path(in target: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let scheme = "http://"
        guard String(decoding: path.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme else {
            return path
        }
        return path.dropFirst(scheme.utf8.count).drop { $0 != UInt8(ascii: "/") }
    }

    /// Whether all fields are such, and at most one of them is Host (RFC 9112 §3.2, §5).
    private static func areSound(_ fields: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        var hostCount = 0
        for field in fields {
            guard let colon = field.firstIndex(of: UInt8(ascii: ":")), colon > field.startIndex else { return false }
            let name = field[..<colon]
            guard name.allSatisfy({ (0x21...0x7E).contains($0) }),
                field[colon...].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
            else { return false }
            if String(decoding: name, as: UTF8.self).lowercased() == "host" { hostCount += 1 }
        }
        return hostCount <= 1
    }
}

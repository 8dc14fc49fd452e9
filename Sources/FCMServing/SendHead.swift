package import HTTP2

/// The head of a request to send a message: what FCM reads of it.
package struct SendHead: Sendable {
    /// The project in the path, by its id or number; `nil` if the method or the path is none of the API's.
    package let project: String?
    /// The path, without the query.
    package let path: String
    /// The access token, if the request has one.
    package let accessToken: ArraySlice<UInt8>?
    /// Whether the answer is indented.
    package let isIndented: Bool
    /// The error of the query, if it has one.
    package let fault: GoogleError?
    /// What FCM tolerates but a client should avoid.
    package let oddities: [String]

    /// Reads the head of a request.
    package init(_ fields: HeaderFields) {
        let all = 0..<fields.count
        func text(_ name: String) -> String? {
            fields.value(of: name, in: all).map { String(decoding: $0, as: UTF8.self) }
        }
        let parts = (text(":path") ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        project = text(":method") == "POST" ? Self.project(in: path) : nil
        accessToken = fields.value(of: "authorization", in: all).flatMap(Self.bearer)
        let query = Query(parts.count > 1 ? parts[1] : "")
        (isIndented, fault) = (query.isIndented, query.fault)
        var oddities: [String] = []
        let type = text("content-type")
        if type?.split(separator: ";").first != "application/json" {
            oddities.append("content-type is \(type ?? "missing"), not application/json")
        }
        if let encoding = text("content-encoding") { oddities.append("the body is encoded as \(encoding)") }
        self.oddities = oddities
    }

    private static func project(in path: String) -> String? {
        let (start, end) = ("/v1/projects/", "/messages:send")
        guard path.hasPrefix(start), path.hasSuffix(end), path.utf8.count > start.utf8.count + end.utf8.count
        else { return nil }
        let project = path.dropFirst(start.count).dropLast(end.count)
        return project.contains("/") ? nil : String(project)
    }

    /// The token of the scheme `Bearer`, whose case does not matter (RFC 6750 §2.1, RFC 9110 §11.1).
    private static func bearer(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count, zip(value, scheme).allSatisfy({ $0 | 0x20 == $1 }) else { return nil }
        return value.dropFirst(scheme.count)
    }
}

/// The query of a request: parameters that every API of Google takes
/// (<https://cloud.google.com/apis/docs/system-parameters>).
private struct Query {
    var isIndented = true
    var fault: GoogleError?

    private static let known: Set = [
        "prettyPrint", "alt", "fields", "key", "quotaUser", "access_token", "oauth_token", "callback",
        "upload_protocol",
        "uploadType", "$.xgafv", "%24.xgafv",
    ]

    init(_ text: Substring) {
        for parameter in text.split(separator: "&") {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if name == "prettyPrint", parts.count > 1, parts[1] == "false" { isIndented = false }
            guard !Self.known.contains(name), fault == nil else { continue }
            let message =
                "Invalid JSON payload received. Unknown name \"\(name)\": Cannot bind query parameter. Field '\(name)' could not be found in request message."
            fault = GoogleError(400, message, .badRequest([.init("", message)]))
        }
    }
}

import HTTP2

/// The header fields of FCM's requests (`POST /v1/projects/<project>/messages:send`).
///
/// All of them are the same for all requests of a project and kept in the peer's table, but for the length of the body.
enum MessageHead {
    /// The index of the hole for `content-length`.
    static let lengthHole = 0

    /// Returns the head of requests but for the length of the body.
    static func fields(authority: String, project: String, authorization: String?) -> [RequestHead.Field] {
        var fields = [
            RequestHead.Field(":method", .text("POST"), kept: .field),
            RequestHead.Field(":scheme", .text("https"), kept: .field),
            RequestHead.Field(":authority", .text(authority), kept: .field),
            RequestHead.Field(":path", .text("/v1/projects/\(project)/messages:send"), kept: .field),
            RequestHead.Field("content-type", .text("application/json"), kept: .field),
            // The newer form of errors, which Google's own libraries ask for.
            RequestHead.Field("x-goog-api-format-version", .text("2"), kept: .field),
        ]
        if let authorization {
            fields.append(RequestHead.Field("authorization", .text(authorization), kept: .field))
        }
        return fields
    }
}

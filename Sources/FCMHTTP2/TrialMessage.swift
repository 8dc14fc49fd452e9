package import HTTP2

/// A message to a topic without subscribers that FCM only validates: no device hears of it.
package struct TrialMessage: Sendable {
    /// The header fields.
    package let head: RequestHead
    /// The body.
    package let body: [UInt8]

    /// Creates the message of a project, with this value of `authorization`.
    package init(authority: String, project: String, authorization: String) {
        body = Array(#"{"validate_only":true,"message":{"topic":"pushspool-doctor"}}"#.utf8)
        let length = RequestHead.Field("content-length", .text(String(body.count)))
        head = RequestHead(
            fields: MessageHead.fields(authority: authority, project: project, authorization: authorization) + [length])
    }
}

import APNSHTTP2
import APNSModel
import NGHTTP2
import PushModel

/// The answer to a request.
struct RequestAnswer: Hashable {
    let status: Int
    /// If empty, the answer has no body.
    var reason = ""
    /// The body to send instead of the reason, if any.
    var text: String?
    /// Milliseconds since 1970.
    var timestamp: Int64?
    /// Seconds.
    var retryAfter: Int?
    /// The name of the field with the request's id; `nil` if the API has none.
    var idField: String?
    /// The value of the field `content-type`, if it is sent.
    var contentType: String?
    /// The id of a new channel.
    var channel: String?

    static let accepted = RequestAnswer(status: 200)

    init(status: Int, text: String? = nil) {
        (self.status, self.text) = (status, text)
    }

    /// Creates the answer for one of Apple's reasons.
    init(_ reason: Reason, timestamp: Int64? = nil) {
        status = reason.status
        self.reason = reason.rawValue
        self.timestamp = timestamp
    }

    /// The body: `{"reason":"Unregistered","timestamp":1700000000123}`.
    var body: [UInt8] {
        if let text { return Array(text.utf8) }
        guard !reason.isEmpty else { return [] }
        let end = timestamp.map { ",\"timestamp\":\($0)}" } ?? "}"
        return Array("{\"reason\":\"\(reason)\"\(end)".utf8)
    }

    /// Whether the request was carried out.
    var isSuccess: Bool { (200..<300).contains(status) }

    /// The outcome of the request.
    var outcome: Ledger.Outcome {
        isSuccess ? .accepted : .rejected(status: status, reason: reason)
    }

    /// Writes the header fields of the answer.
    func write(into fields: inout ResponseFields, id: ArraySlice<UInt8>, uniqueID: String?) {
        fields.removeAll()
        fields.append(":status", status == 200 ? "200" : String(status))
        if let idField { fields.append(idField, id, isIndexed: false) }
        if let uniqueID { fields.append("apns-unique-id", uniqueID, isIndexed: false) }
        if let channel { fields.append("apns-channel-id", channel, isIndexed: false) }
        if let contentType { fields.append("content-type", contentType) }
        if let retryAfter { fields.append("retry-after", String(retryAfter)) }
    }
}

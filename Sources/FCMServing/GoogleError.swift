import Document
import FCMModel

/// An error as Google's APIs answer it: `google.rpc.Status` in JSON, with the HTTP status as `code`
/// (<https://cloud.google.com/apis/design/errors>).
package struct GoogleError: Error, Hashable, Sendable {
    /// What an error says beyond its message, for programs. Each is named by its type.
    package enum Detail: Hashable, Sendable {
        /// `google.firebase.fcm.v1.FcmError`.
        case fcm(code: String)
        /// `google.firebase.fcm.v1.FcmError` with a code that is known.
        static func fcm(_ code: FCMErrorCode) -> Detail { .fcm(code: code.rawValue) }
        /// `google.firebase.fcm.v1.ApnsError`: what Apple's gateway answered to FCM.
        case apns(status: Int, reason: String)
        /// `google.rpc.BadRequest`: the fields at fault, or none.
        case badRequest([Violation])
        /// `google.rpc.ErrorInfo`, with metadata in this order.
        case errorInfo(reason: String, domain: String, metadata: [Violation])
        /// `google.rpc.QuotaFailure`: the subjects whose quota is used up.
        case quotaFailure([Violation])
    }

    /// A pair of texts in a detail: a field or a subject and what is wrong with it, or a name and its value.
    package struct Violation: Hashable, Sendable {
        let name: String
        let text: String

        /// Creates a pair.
        package init(_ name: String, _ text: String) {
            (self.name, self.text) = (name, text)
        }
    }

    /// The HTTP status.
    package let code: Int
    /// The text for people.
    package let message: String
    /// The details, in the order in which they are written.
    package let details: [Detail]

    /// Creates an error. The name of its status follows from the code.
    package init(_ code: Int, _ message: String, _ details: Detail...) {
        self.init(code, message, details)
    }

    private init(_ code: Int, _ message: String, _ details: [Detail]) {
        (self.code, self.message, self.details) = (code, message, details)
    }

    /// Returns the same error with another HTTP status.
    package func with(code: Int) -> GoogleError { GoogleError(code, message, details) }

    /// The name of the code in `google.rpc.Code`.
    package var status: String {
        switch code {
        case 400: "INVALID_ARGUMENT"
        case 401: "UNAUTHENTICATED"
        case 403: "PERMISSION_DENIED"
        case 404: "NOT_FOUND"
        case 429: "RESOURCE_EXHAUSTED"
        case 500: "INTERNAL"
        case 503: "UNAVAILABLE"
        case 504: "DEADLINE_EXCEEDED"
        default: "UNKNOWN"
        }
    }

    /// The most specific name of the error: the code of FCM's detail, else the reason of `ErrorInfo`, else the status.
    package var reason: String {
        for case .fcm(let code) in details { return code }
        for case .errorInfo(let reason, _, _) in details { return reason }
        return status
    }

    /// The body of the answer, compact.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("error")
        writer.beginObject()
        writer.member("code", code)
        writer.member("message", message)
        writer.member("status", status)
        if !details.isEmpty {
            writer.key("details")
            writer.beginArray()
            for detail in details { detail.write(to: &writer) }
            writer.endArray()
        }
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}

extension GoogleError.Detail {
    private var type: String {
        switch self {
        case .fcm: "google.firebase.fcm.v1.FcmError"
        case .apns: "google.firebase.fcm.v1.ApnsError"
        case .badRequest: "google.rpc.BadRequest"
        case .errorInfo: "google.rpc.ErrorInfo"
        case .quotaFailure: "google.rpc.QuotaFailure"
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("@type", "type.googleapis.com/" + type)
        switch self {
        case .fcm(let code): writer.member("errorCode", code)
        case .apns(let status, let reason):
            writer.member("statusCode", status)
            writer.member("reason", reason)
        case .badRequest(let violations): write(violations, as: "fieldViolations", of: "field", to: &writer)
        case .quotaFailure(let violations): write(violations, as: "violations", of: "subject", to: &writer)
        case .errorInfo(let reason, let domain, let metadata):
            writer.member("reason", reason)
            writer.member("domain", domain)
            writer.key("metadata")
            writer.beginObject()
            for pair in metadata { writer.member(pair.name, pair.text) }
            writer.endObject()
        }
        writer.endObject()
    }

    /// Writes a list; an empty one is left out.
    private func write(
        _ violations: [GoogleError.Violation], as key: String, of name: String, to writer: inout JSONWriter
    ) {
        guard !violations.isEmpty else { return }
        writer.key(key)
        writer.beginArray()
        for violation in violations {
            writer.beginObject()
            writer.member(name, violation.name)
            writer.member("description", violation.text)
            writer.endObject()
        }
        writer.endArray()
    }
}

package import Document
import FCMModel
package import PushHTTP2
import PushModel

/// The body of FCM's refusals (`google.rpc.Status`).
///
/// What FCM means is the `errorCode` of the detail whose type ends in `FcmError`; the other members are Google's general
/// words. The details come in any order, and often there are none.
struct RPCStatus: Hashable, Sendable {
    /// The HTTP status of the answer.
    private let status: Int
    /// The general word, such as `NOT_FOUND`; `nil` if the body is not Google's.
    private var word: String?
    /// Google's text about it.
    private var message = ""
    /// FCM's own code.
    private var code: String?
    /// The reason of an `ErrorInfo`.
    private var reason: String?
    /// The members that a `BadRequest` names.
    private var fields: [String] = []
    /// What a `QuotaFailure` names.
    private var subjects: [String] = []
    private let excerpt: String

    /// The longest body that is parsed, in bytes. Google's have fewer than 2,000.
    private static let bodyLimit = 16_384

    /// Reads a body. Never fails: it is Google's only if it is JSON with an `error` whose `code` is the status.
    init(_ body: ArraySlice<UInt8>, status: Int, parser: inout some DocumentParser) {
        self.status = status
        let error = parser.document(in: body, limit: Self.bodyLimit)?.root["error"]
        guard let error, error["code"]?.integer == status, let word = error["status"]?.string, Self.isWord(word) else {
            excerpt = Reply.excerpt(of: body, hiding: Self.isOfAddress)
            return
        }
        (self.word, excerpt) = (word, "")
        message = error["message"]?.string ?? ""
        for detail in error["details"]?.elements.map({ $0 }) ?? [] { read(detail) }
    }

    private mutating func read(_ detail: Node) {
        guard let type = detail["@type"]?.string else { return }
        if type.hasSuffix(".FcmError") { code = detail["errorCode"]?.string.flatMap { Self.isWord($0) ? $0 : nil } }
        if type.hasSuffix(".ErrorInfo") { reason = detail["reason"]?.string.flatMap { Self.isWord($0) ? $0 : nil } }
        if type.hasSuffix(".BadRequest") {
            fields += detail["fieldViolations"]?.elements.compactMap { $0["field"]?.string } ?? []
        }
        if type.hasSuffix(".QuotaFailure") {
            subjects += detail["violations"]?.elements.compactMap { $0["subject"]?.string } ?? []
        }
    }

    /// Returns the name that FCM gave to an accepted message; `nil` if the body has none. It needs no escapes in JSON.
    static func messageName(in body: ArraySlice<UInt8>, parser: inout some DocumentParser) -> String? {
        guard let name = parser.document(in: body, limit: bodyLimit)?.root["name"]?.string,
            (1...512).contains(name.utf8.count),
            name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        else { return nil }
        return name
    }

    /// Whether a character may be part of a token: a letter, a digit, `:`, `-` or `_`.
    private static func isOfAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}

extension Reply {
    /// Reads an answer of FCM's. Never fails: an acceptance is 200, and a refusal is FCM's only if its body has Google's form.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The complete body.
    ///   - parser: A JSON parser, reusable for many answers.
    package init(fcmStatus status: Int, body: ArraySlice<UInt8>, parser: inout some DocumentParser) {
        self =
            status == 200 ? Reply(status: 200, word: nil, nil) : RPCStatus(body, status: status, parser: &parser).reply
    }
}

// What it means.
extension RPCStatus {
    /// What the sender does about it (<https://firebase.google.com/docs/cloud-messaging/error-codes>). Only
    /// `UNREGISTERED` with status 404 says that an address is gone.
    var reply: Reply {
        guard let word else {
            // Google's front end answers with pages, too, which say all that there is to say.
            let isOfFrontEnd = status == 413 || status == 429 || status >= 500
            let failureClass: FailureClass = status == 413 ? .message : status == 429 ? .retryLater : .serverError
            var reply = Reply(status: status, word: isOfFrontEnd ? "HTTP\(status)" : nil, failureClass)
            if status == 429 { reply.concerns = .quota }
            reply.excerpt = excerpt
            return reply
        }
        let code = code.flatMap(FCMErrorCode.init(rawValue:))
        var reply = Reply(status: status, word: self.code ?? reason ?? word, failureClass(code))
        switch (status, code) {
        case (401, .thirdPartyAuthError), (401, .apnsAuthError):
            (reply.verdict, reply.hint) = (.config, Self.consoleHint)
        case (401, _): (reply.concerns, reply.hint) = ([.authorization, .credentials], Self.accountHint)
        case (403, _) where reply.failureClass == .app: reply.hint = Self.hint(reason, message)
        case (429, _): if !isAboutAddress { reply.concerns = .quota }
        default: break
        }
        if reply.failureClass == .message, reply.verdict == nil { reply.detail = detail }
        return reply
    }

    private func failureClass(_ code: FCMErrorCode?) -> FailureClass {
        switch (status, code) {
        case (404, .unregistered): .tokenGone
        case (400, .invalidArgument) where isAboutToken: .token
        case (401, .thirdPartyAuthError), (401, .apnsAuthError): .message
        case (401, _): .retryNow
        case (403, .senderIDMismatch): .token
        case (403, _), (404, _): .app
        case (429, _), (503, _): .retryLater
        case (500..., _): .serverError
        default: .message
        }
    }

    /// Whether the address is malformed, or belongs to something else than FCM.
    private var isAboutToken: Bool {
        fields.contains("message.token") || message.contains("not a valid FCM registration token")
    }

    /// Whether a quota is that of the device or of the topic, and not that of the project.
    private var isAboutAddress: Bool {
        let texts = subjects + [message]
        return texts.contains { text in
            let text = text.lowercased()
            return text.contains("topic") || text.contains("device") || text.contains("token:")
        }
    }

    /// Google's text about a message, cut after 300 bytes: the only clue to what is wrong with it.
    private var detail: String? {
        guard !message.isEmpty else { return nil }
        let limit = 300
        guard message.utf8.count > limit else { return message }
        var cut = message.utf8.index(message.utf8.startIndex, offsetBy: limit)
        while cut.samePosition(in: message.unicodeScalars) == nil { cut = message.utf8.index(before: cut) }
        return String(message[..<cut])
    }

    private static let consoleHint =
        "upload a valid key for Apple's gateway or for Web Push in the Firebase console; Android tokens are not affected"
    private static let accountHint =
        "check that the service account's key was not deleted in the Google Cloud console, and this machine's clock"

    private static func hint(_ reason: String?, _ message: String) -> String {
        if reason == "SERVICE_DISABLED" || message.contains("has not been used in project") {
            return "enable the Firebase Cloud Messaging API (V1) for the project in the Google Cloud console"
        }
        return "give the service account the role Firebase Cloud Messaging API Admin, and check project:"
    }
}

/// Why a request is refused. Its text is py-apnsd's where that has one.
///
/// The text may have a whole device token in it: it is for the client, never for a log.
package enum CommandFault: Error, Hashable, Sendable {
    /// Neither `send` nor `feedback`.
    case unknownCommand
    /// Not one message of one part.
    case multipart
    /// `send` lacks an expiry, a number, so many tokens, or a payload.
    case incomplete
    /// The expiry is not a number of seconds, or lies after 2106-02-07.
    case badExpiry([UInt8])
    /// The number of tokens is not one, or 0.
    case badNumber([UInt8])
    /// 64 characters that are not hexadecimal digits.
    case badHexadecimal([UInt8])
    /// Neither 64 characters nor base64.
    case badBase64([UInt8])
    /// Base64 of some other number of bytes than 32.
    case badTokenLength(Int, [UInt8])
    /// The payload is not text in UTF-8.
    case notUTF8
    /// The payload begins with `{`, but is not a JSON object.
    case badJSON([UInt8])
    /// The payload is longer than the protocol of the app allows.
    case payloadTooLong(byteCount: Int, limit: Int)
    /// Another reason, in words: what the daemon finds wrong with the job, or why the spool does not take it.
    case other(String)

    /// Appends the text.
    func append(to text: inout [UInt8]) {
        switch self {
        case .unknownCommand: text += "Invalid input".utf8
        case .multipart: text += "Invalid input (the request must be one message part)".utf8
        case .incomplete: text += "Invalid input (expected: send EXPIRY NUMBER TOKEN... PAYLOAD)".utf8
        case .badExpiry(let word): Self.append("Invalid expiry value: ", word, to: &text)
        case .badNumber(let word): Self.append("Invalid number of device tokens: ", word, to: &text)
        case .badHexadecimal(let word): Self.append("Wrong hexadecimal encoding for device token: ", word, to: &text)
        case .badBase64(let word): Self.append("Wrong base64 encoding for device token: ", word, to: &text)
        case .badTokenLength(let count, let word):
            Self.append("Wrong device token length (\(count) != 32): ", word, to: &text)
        case .notUTF8: text += "Invalid input (the payload must be UTF-8)".utf8
        case .badJSON(let payload): Self.append("Invalid JSON payload: ", payload, to: &text)
        case .payloadTooLong(let byteCount, let limit): text += "Payload too long (\(byteCount) > \(limit))".utf8
        case .other(let reason): text += reason.utf8
        }
    }

    /// How much of a request is repeated in its reply. Replies wait in memory until their client reads them.
    private static let echoLimit = 8 << 10

    private static func append(_ words: String, _ echo: [UInt8], to text: inout [UInt8]) {
        text += Array(words.utf8) + echo.prefix(echoLimit)
        if echo.count > echoLimit { text += "...".utf8 }
    }
}

extension CommandFault {
    /// Its kind, for metrics.
    package var kind: String {
        switch self {
        case .unknownCommand, .multipart, .incomplete, .notUTF8: "invalid input"
        case .badExpiry: "expiry"
        case .badNumber: "number"
        case .badHexadecimal, .badBase64, .badTokenLength: "token"
        case .badJSON, .payloadTooLong: "payload"
        case .other: "other"
        }
    }
}

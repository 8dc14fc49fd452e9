import APNSModel
import Document
import PushModel

/// The reply to a command.
package enum CommandReply: Hashable, Sendable {
    /// `OK`, and the ids of the notifications in the order of the tokens.
    case sent(ids: Range<UInt64>)
    /// `OK`, and the tokens that the gateway has called gone or invalid, if there are any.
    case feedback([LostToken], format: TokenFormat)
    /// `ERROR`, and why.
    case refused(CommandFault)

    /// How tokens are written: `device_token_format` of py-apnsd.
    package enum TokenFormat: String, CaseIterable, Sendable {
        /// Uppercase hexadecimal digits.
        case hexadecimal = "hex"
        /// Base64 with padding.
        case base64
    }

    /// The bytes of the reply.
    package var bytes: [UInt8] {
        var text: [UInt8] = []
        switch self {
        case .sent(let ids):
            text += "OK".utf8
            for id in ids { text += " \(id)".utf8 }
        case .feedback(let tokens, let format):
            text += "OK".utf8
            for token in tokens {
                text.append(UInt8(ascii: " "))
                // A time of 0 means that the gateway calls the token invalid.
                text += "\(token.isGone ? token.time.epochSeconds : 0):".utf8
                switch format {
                case .hexadecimal: text += token.token.hex.uppercased().utf8
                case .base64: Base64.standard.append(token.token.bytes, to: &text)
                }
            }
        case .refused(let fault):
            text += "ERROR ".utf8
            fault.append(to: &text)
        }
        return text
    }
}

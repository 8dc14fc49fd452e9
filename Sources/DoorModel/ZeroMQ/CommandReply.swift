package import APNSModel

/// The reply to a command.
package enum CommandReply: Hashable, Sendable {
    /// `OK`, and the ids of the notifications in the order of the tokens.
    case sent(ids: Range<UInt64>)
    /// `OK`, and the tokens that the gateway has called gone or invalid, if there are any.
    case feedback([LostToken], format: TokenFormat)
    /// `ERROR`, and why.
    case refused(CommandFault)

    /// A device that the gateway does not reach.
    package struct LostToken: Hashable, Sendable {
        private let token: [UInt8]
        private let goneSince: WallTime?

        /// Creates one.
        ///
        /// - Parameters:
        ///   - token: The bytes of the token.
        ///   - goneSince: Since when the app is gone from the device; `nil` if the gateway calls the token invalid.
        package init(_ token: [UInt8], goneSince: WallTime?) {
            (self.token, self.goneSince) = (token, goneSince)
        }

        /// Appends the time in seconds since 1970, a colon, and the token.
        fileprivate func append(as format: TokenFormat, to text: inout [UInt8]) {
            text += "\(goneSince?.epochSeconds ?? 0):".utf8
            switch format {
            case .hexadecimal: text += DeviceToken(bytes: token).hex.uppercased().utf8
            case .base64: Base64.append(token, to: &text)
            }
        }
    }

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
                token.append(as: format, to: &text)
            }
        case .refused(let fault):
            text += "ERROR ".utf8
            fault.append(to: &text)
        }
        return text
    }
}

/// What the peer did that ends the connection; our GOAWAY has said so with the same code.
///
/// Streams that are still open were perhaps processed. Open a new connection.
package struct ConnectionFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code in our GOAWAY.
    package let code: ErrorCode
    /// The rule that was broken, for a log.
    package let message: String

    /// Names a broken rule.
    package init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code): \(message)" }
}

/// A violation by the peer that ends the connection. The machine has already queued a GOAWAY with the same code.
///
/// The peer may have processed the streams that are still open. Open a new connection.
package struct ConnectionFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error code in the GOAWAY frame.
    package let code: ErrorCode
    /// The broken rule, for the log.
    package let message: String

    /// Creates a fault from its code and a description of the broken rule.
    package init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code): \(message)" }
}

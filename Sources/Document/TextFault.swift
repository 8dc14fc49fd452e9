/// The reason why a short text (a duration, a size) could not be parsed.
package struct TextFault: Error, Sendable, Hashable {
    /// The problem, as a fragment.
    package let message: String
    /// The correct form, as a fragment.
    package let hint: String

    /// Creates a fault.
    package init(_ message: String, hint: String) {
        self.message = message
        self.hint = hint
    }
}

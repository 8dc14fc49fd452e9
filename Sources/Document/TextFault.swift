/// Why a short text (a duration, a size) could not be read.
package struct TextFault: Error, Sendable, Hashable {
    /// What is wrong, as a fragment.
    package let message: String
    /// What would be right, as a fragment.
    package let hint: String

    /// Describes a fault.
    package init(_ message: String, hint: String) {
        self.message = message
        self.hint = hint
    }
}

/// A limit on the processor time for reading one file, combined with cancellation.
///
/// Readers call `spend()` between steps of about 64 KiB. The type reads no clock: the caller supplies the time spent.
package struct ReadingBudget: Sendable {
    /// The base allowance of every file.
    package static let base = Duration.seconds(2)
    /// The additional allowance per started MiB of the file. Ordinary files use about a hundredth of it.
    package static let perMebibyte = Duration.seconds(1)

    private let check: @Sendable () -> Diagnostic?

    /// A budget without a limit, for files that were read before and for tests.
    package static let unlimited = ReadingBudget { nil }

    /// Creates a budget from a check that runs at each step and returns the reason to stop, or `nil`.
    package init(_ check: @escaping @Sendable () -> Diagnostic?) {
        self.check = check
    }

    /// Creates the budget of a file.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the file in bytes.
    ///   - spent: Returns the processor time spent on reading the file.
    package init(byteCount: Int, spent: @escaping @Sendable () -> Duration) {
        let limit = Self.limit(for: byteCount)
        self.init { spent() > limit ? Self.exceeded(limit) : nil }
    }

    /// Returns this budget with an additional condition: it also stops once `isUnwanted` returns `true`.
    package func unless(_ isUnwanted: @escaping @Sendable () -> Bool) -> ReadingBudget {
        ReadingBudget { [check] in isUnwanted() ? Self.unwanted : check() }
    }

    /// Returns the processor time allowed for a file of this size.
    package static func limit(for byteCount: Int) -> Duration {
        base + perMebibyte * ((byteCount >> 20) + (byteCount % (1 << 20) > 0 ? 1 : 0))
    }

    /// Checks whether reading may continue.
    ///
    /// - Throws: The reason to stop, which concerns the whole file.
    package func spend() throws(Diagnostic) {
        if let diagnostic = check() { throw diagnostic }
    }

    /// Never shown to a user.
    private static let unwanted = Diagnostic("reading the file was cancelled")

    private static func exceeded(_ limit: Duration) -> Diagnostic {
        Diagnostic(
            "reading the file took more than the limit of \(limit.components.seconds) s of processor time",
            hint: "split it, or write it as .jsonl with one recipient per line")
    }
}

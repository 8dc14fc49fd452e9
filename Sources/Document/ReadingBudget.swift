/// How much processor time reading one file may take, and whether its result is still wanted.
///
/// Readers ask between steps of about 64 KiB. The core reads no clock: the caller says what has been spent.
package struct ReadingBudget: Sendable {
    /// What every file has, however short.
    package static let base = Duration.seconds(2)
    /// What a file has besides for each MiB that it has or begins. Usual files take a hundredth of it.
    package static let perMebibyte = Duration.seconds(1)

    private let check: @Sendable () -> Diagnostic?

    /// A budget without an end, for files that were read before, and for tests.
    package static let unlimited = ReadingBudget { nil }

    /// Creates a budget from what is called at each step; it returns why reading ends, or `nil`.
    package init(_ check: @escaping @Sendable () -> Diagnostic?) {
        self.check = check
    }

    /// Creates the budget of a file.
    ///
    /// - Parameters:
    ///   - byteCount: How long the file is.
    ///   - spent: Returns the processor time that reading it has taken.
    package init(byteCount: Int, spent: @escaping @Sendable () -> Duration) {
        let limit = Self.limit(for: byteCount)
        self.init { spent() > limit ? Self.exceeded(limit) : nil }
    }

    /// This budget, which is also spent as soon as nobody wants the result.
    package func unless(_ isUnwanted: @escaping @Sendable () -> Bool) -> ReadingBudget {
        ReadingBudget { [check] in isUnwanted() ? Self.unwanted : check() }
    }

    /// How much processor time reading a file of this length may take.
    package static func limit(for byteCount: Int) -> Duration {
        base + perMebibyte * ((byteCount >> 20) + (byteCount % (1 << 20) > 0 ? 1 : 0))
    }

    /// Asks whether to go on.
    /// - Throws: Why not. It is a fault of the file as a whole.
    package func spend() throws(Diagnostic) {
        if let diagnostic = check() { throw diagnostic }
    }

    /// Nobody sees this one.
    private static let unwanted = Diagnostic("reading the file was given up")

    private static func exceeded(_ limit: Duration) -> Diagnostic {
        Diagnostic(
            "reading the file took more than its \(limit.components.seconds) s of processor time",
            hint: "split it, or write it as .jsonl with one recipient a line")
    }
}

/// A whole number with a unit behind it: what durations and sizes have in common.
enum Quantity {
    /// Takes the number and the unit apart; a space may lie between them.
    /// - Throws: That there is no number, or one beyond 10¹⁵.
    static func split(_ text: String, form: String) throws(TextFault) -> (number: Int64, unit: String) {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else {
            throw TextFault("\(Diagnostic.quoted(text)) does not start with a number", hint: "write \(form)")
        }
        guard let number = Int64(Substring(digits)), number <= 1_000_000_000_000_000 else { throw tooLarge }
        let rest = text[digits.endIndex...]
        return (number, String(rest.drop { $0 == " " }))
    }

    /// Multiplies.
    /// - Throws: That the product is beyond 10¹⁵.
    static func product(_ number: Int64, _ factor: Int64) throws(TextFault) -> Int64 {
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, product <= 1_000_000_000_000_000 else { throw tooLarge }
        return product
    }

    private static let tooLarge = TextFault("the number is too large", hint: "write a smaller one")
}

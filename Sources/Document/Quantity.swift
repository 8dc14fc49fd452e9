/// A whole number followed by a unit: the common form of durations and sizes.
enum Quantity {
    /// Splits the text into number and unit, which a space may separate.
    ///
    /// - Throws: The fault of a text that does not start with a number, or has a number beyond 10¹⁵.
    static func split(_ text: String, form: String) throws(TextFault) -> (number: Int64, unit: String) {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else {
            throw TextFault("\(Diagnostic.quoted(text)) does not start with a number", hint: "write \(form)")
        }
        guard let number = Int64(Substring(digits)), number <= 1_000_000_000_000_000 else { throw tooLarge }
        let rest = text[digits.endIndex...]
        return (number, String(rest.drop { $0 == " " }))
    }

    /// Multiplies two numbers.
    ///
    /// - Throws: The fault of a product beyond 10¹⁵.
    static func product(_ number: Int64, _ factor: Int64) throws(TextFault) -> Int64 {
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard !overflow, product <= 1_000_000_000_000_000 else { throw tooLarge }
        return product
    }

    private static let tooLarge = TextFault("the number is too large", hint: "use a smaller number")
}

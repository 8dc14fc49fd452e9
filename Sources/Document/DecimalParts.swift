/// A decimal number without its sign, split into its parts but not evaluated, so that no digit is lost.
struct DecimalParts {
    private let whole: ArraySlice<UInt8>
    private let fraction: ArraySlice<UInt8>?
    private let exponent: ArraySlice<UInt8>?

    /// Splits `17`, `1.5`, `.5`, `1.` or `1e-3` into its parts; `nil` for anything else.
    init?(_ text: ArraySlice<UInt8>) {
        var rest = text
        whole = Self.takeDigits(&rest)
        var fraction: ArraySlice<UInt8>?
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = Self.takeDigits(&rest)
        }
        guard !whole.isEmpty || fraction?.isEmpty == false else { return nil }
        self.fraction = fraction
        var exponent: ArraySlice<UInt8>?
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            let marked = rest
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            guard !Self.takeDigits(&rest).isEmpty else { return nil }
            exponent = marked
        }
        self.exponent = exponent
        guard rest.isEmpty else { return nil }
    }

    /// Whether the number has neither a fraction nor an exponent.
    var isInteger: Bool { fraction == nil && exponent == nil }

    /// Returns the number in JSON notation: no leading zeros, digits on both sides of the point.
    func json(sign: String) -> String {
        let significant = whole.drop { $0 == UInt8(ascii: "0") }
        var text = significant.isEmpty ? "0" : String(decoding: significant, as: UTF8.self)
        if let fraction { text += "." + (fraction.isEmpty ? "0" : String(decoding: fraction, as: UTF8.self)) }
        if let exponent { text += String(decoding: exponent, as: UTF8.self) }
        return isInteger && text == "0" ? text : sign + text
    }

    private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest[digits.endIndex...]
        return digits
    }
}

/// Reads sizes as users write them: a whole number of bytes, or with a binary unit.
package enum ByteCountText {
    /// What the text may look like, for hints.
    package static let form = "a whole number of bytes, or one with the unit KiB, MiB or GiB, such as 64MiB"

    /// Reads `4096`, `16KiB`, `64MiB` or `1GiB`.
    /// - Throws: What is wrong with the text; show it with the field's place.
    package static func parse(_ text: String) throws(TextFault) -> Int {
        let (number, unit) = try Quantity.split(text, form: form)
        switch unit {
        case "", "B": return Int(number)
        case "KiB": return Int(try Quantity.product(number, 1 << 10))
        case "MiB": return Int(try Quantity.product(number, 1 << 20))
        case "GiB": return Int(try Quantity.product(number, 1 << 30))
        default: throw TextFault("\(Diagnostic.quoted(unit)) is no unit of size", hint: "write \(form)")
        }
    }
}

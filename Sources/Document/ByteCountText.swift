/// Parses sizes as users write them: a whole number of bytes, or a number with a binary unit.
package enum ByteCountText {
    /// A description of the accepted text, for hints.
    package static let form = "a whole number of bytes, or of KiB, MiB or GiB, such as 64MiB"

    /// Parses `4096`, `16KiB`, `64MiB` or `1GiB`.
    ///
    /// - Throws: The fault of the text; report it at the field's place.
    package static func parse(_ text: String) throws(TextFault) -> Int {
        let (number, unit) = try Quantity.split(text, form: form)
        switch unit {
        case "", "B": return Int(number)
        case "KiB": return Int(try Quantity.product(number, 1 << 10))
        case "MiB": return Int(try Quantity.product(number, 1 << 20))
        case "GiB": return Int(try Quantity.product(number, 1 << 30))
        default: throw TextFault("unknown unit \(Diagnostic.quoted(unit))", hint: "write \(form)")
        }
    }

    /// Returns the shortest text for a size: `64MiB`, not `65536KiB`.
    package static func spelled(_ count: Int) -> String {
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        guard count > 0, let (factor, unit) = units.first(where: { count % $0.0 == 0 }) else { return "\(count)" }
        return "\(count / factor)\(unit)"
    }
}

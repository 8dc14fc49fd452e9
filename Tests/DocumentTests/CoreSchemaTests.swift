import Document
import Testing

@Suite struct CoreSchemaTests {
    @Test(
        arguments: [
            ("", .null), ("~", .null), ("null", .null), ("Null", .null), ("NULL", .null), ("nULL", .string),
            ("true", .boolean(true)), ("True", .boolean(true)), ("FALSE", .boolean(false)), ("tRUE", .string),
            ("yes", .string), ("no", .string), ("on", .string), ("y", .string), ("~~", .string),
        ] as [(String, CoreSchema.Scalar)])
    func `words are read by the core schema`(text: String, expected: CoreSchema.Scalar) {
        #expect(CoreSchema.resolve(Array(text.utf8)[...]) == expected)
    }

    @Test(
        arguments: [
            ("0", .integer("0")), ("17", .integer("17")), ("-17", .integer("-17")), ("+3600", .integer("3600")),
            ("007", .integer("7")), ("-0", .integer("0")), ("0x1F", .integer("31")), ("0o17", .integer("15")),
            ("0xffffffffffffffff", .integer("18446744073709551615")), ("0x1ffffffffffffffff", .unwritable),
            ("0x", .string),
            ("0xG", .string), ("0o8", .string), ("0X1F", .string), ("-0x1F", .string), ("0b11", .string),
            ("1_000", .string),
            ("123456789012345678901234567890", .integer("123456789012345678901234567890")), ("12:30", .string),
        ] as [(String, CoreSchema.Scalar)])
    func `whole numbers are read by the core schema`(text: String, expected: CoreSchema.Scalar) {
        #expect(CoreSchema.resolve(Array(text.utf8)[...]) == expected)
    }

    @Test(
        arguments: [
            ("1.0", .float("1.0")), ("1e3", .float("1e3")), ("1E+3", .float("1E+3")), (".5", .float("0.5")),
            ("1.", .float("1.0")),
            ("-.5", .float("-0.5")), ("+1.50", .float("1.50")), ("01.5", .float("1.5")), ("-0.0", .float("-0.0")),
            ("1.e3", .float("1.0e3")), (".inf", .unwritable), ("-.INF", .unwritable), ("+.Inf", .unwritable),
            (".nan", .unwritable),
            (".NaN", .unwritable), ("-.nan", .string), (".", .string), ("-", .string), ("+", .string), ("1e", .string),
            ("e3", .string),
            ("1.2.3", .string), ("2026-11-21", .string), ("..", .string), ("nan", .string), ("inf", .string),
        ] as [(String, CoreSchema.Scalar)])
    func `other numbers are read by the core schema`(text: String, expected: CoreSchema.Scalar) {
        #expect(CoreSchema.resolve(Array(text.utf8)[...]) == expected)
    }
}

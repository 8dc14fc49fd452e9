import Document
import Testing

@Suite struct QuantityTests {
    @Test(
        arguments: [
            ("250ms", .milliseconds(250)), ("15s", .seconds(15)), ("5m", .seconds(300)), ("4h", .seconds(14_400)),
            ("30d", .seconds(2_592_000)), ("0", .zero), ("0s", .zero), ("10 s", .seconds(10)),
            ("1500ms", .milliseconds(1_500)),
            ("1000000000000000ms", .seconds(1_000_000_000_000)),
        ] as [(String, Duration)])
    func `a duration is a number and a unit`(text: String, expected: Duration) throws {
        #expect(try DurationText.parse(text) == expected)
    }

    @Test(arguments: [
        ("15", "the unit is missing"), ("", "`` does not start with a number"),
        ("-1s", "`-1s` does not start with a number"),
        ("s", "`s` does not start with a number"), ("5w", "unknown unit `w`"),
        ("1h30m", "unknown unit `h30m`"),
        ("5M", "unknown unit `M`"), ("1.5h", "unknown unit `.5h`"),
        ("99999999999999999999d", "the number is too large"),
        ("1000000000000000d", "the number is too large"), ("5m\n", "unknown unit `m\\n`"),
    ])
    func `anything else is no duration`(text: String, message: String) {
        #expect(throws: TextFault(message, hint: hint(message))) { try DurationText.parse(text) }
    }

    private func hint(_ message: String) -> String {
        message == "the number is too large" ? "use a smaller number" : "write \(DurationText.form)"
    }

    @Test(arguments: [
        ("4096", 4_096), ("16KiB", 16_384), ("64MiB", 67_108_864), ("1GiB", 1 << 30), ("0", 0), ("7B", 7),
    ])
    func `a size is a number of bytes or has a binary unit`(text: String, expected: Int) throws {
        #expect(try ByteCountText.parse(text) == expected)
    }

    @Test(arguments: ["", "KiB", "64MB", "64M", "-1", "1.5MiB", "9999999GiB0", "99999999999999999GiB"])
    func `anything else is no size`(text: String) {
        #expect(throws: TextFault.self) { try ByteCountText.parse(text) }
    }
}

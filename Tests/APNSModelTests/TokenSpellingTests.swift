import APNSModel
import TestSupport
import Testing

struct TokenSpellingTests {
    private func read(_ text: String) -> Result<[UInt8], TokenSpelling.Fault> {
        var bytes: [UInt8] = [0xAA]
        return TokenSpelling.append(Array(text.utf8).span, to: &bytes).map { _ in Array(bytes.dropFirst()) }
    }

    @Test(arguments: [
        ("740f4707 bebcf74f", [0x74, 0x0F, 0x47, 0x07, 0xBE, 0xBC, 0xF7, 0x4F] as [UInt8]),
        ("<740f4707 bebcf74f>", [0x74, 0x0F, 0x47, 0x07, 0xBE, 0xBC, 0xF7, 0x4F]),
        ("740F4707BEBCF74F", [0x74, 0x0F, 0x47, 0x07, 0xBE, 0xBC, 0xF7, 0x4F]),
        ("DEADBEEF", [0xDE, 0xAD, 0xBE, 0xEF]), ("DEADBEAF", [0xDE, 0xAD, 0xBE, 0xAF]),
        ("12345678", [0x12, 0x34, 0x56, 0x78]),
        ("+/8=", [0xFB, 0xFF]), ("-_8", [0xFB, 0xFF]), ("AQID", [1, 2, 3]), ("//8=", [0xFF, 0xFF]), ("zz==", [0xCF]),
    ])
    func `a token is read as people write it`(text: String, bytes: [UInt8]) {
        #expect(read(text) == .success(bytes))
    }

    @Test(arguments: 0..<8)
    func `each byte counts as a digit or not wherever it stands among eight`(place: Int) {
        for byte in UInt8.min...UInt8.max {
            var (text, bytes): ([UInt8], [UInt8]) = (Array("0a1B2c3D".utf8), [])
            text[place] = byte
            let digits = text.map { Character(Unicode.Scalar($0)).hexDigitValue }
            let result = TokenSpelling.append(text.span, to: &bytes)
            guard byte < 0x80, let digit = digits[place] else {
                #expect(result != .success(4), "byte \(byte)")
                continue
            }
            let partner = digits[place ^ 1] ?? 0
            #expect(bytes[place / 2] == UInt8(place % 2 == 0 ? digit << 4 | partner : partner << 4 | digit))
        }
    }

    @Test(arguments: 0..<64)
    func `each byte counts as a digit or not wherever it stands in a token of the usual length`(place: Int) {
        let token = String(repeating: "0a1B2c3Df9E8d7C6", count: 4)
        for byte in UInt8.min...UInt8.max {
            var (text, bytes): ([UInt8], [UInt8]) = (Array(token.utf8), [0x5A])
            text[place] = byte
            let digits = text.map { Character(Unicode.Scalar($0)).hexDigitValue }
            let areDigits = byte < 0x80 && digits[place] != nil
            #expect(TokenSpelling.appendUsualDigits(text.span, to: &bytes) == areDigits, "byte \(byte)")
            let decoded = areDigits ? (0..<32).map { UInt8(digits[2 * $0]! << 4 | digits[2 * $0 + 1]!) } : []
            #expect(bytes == [0x5A] + decoded)
        }
    }

    @Test(arguments: [
        ("", TokenSpelling.Fault.empty), ("<>", .empty), ("  ", .empty), ("=", .unreadable), ("====", .unreadable),
        ("abc", .oddDigitCount(3)), ("<1>", .oddDigitCount(1)), ("DEADBEEF0", .oddDigitCount(9)),
        ("zzzz=", .unreadable), ("zz=z", .unreadable), ("zzz==", .unreadable),
        ("zé", .unreadable), ("z\n", .unreadable),
    ])
    func `other spellings name no token, and say why`(text: String, fault: TokenSpelling.Fault) {
        #expect(read(text) == .failure(fault))
    }

    private static let mistyped: [(String, Unicode.Scalar, Int)] = [
        ("0x740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "x", 2),
        ("0X740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "X", 2),
        ("0xAB", "x", 2),
        ("O40f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "O", 1),
        ("740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ag", "g", 64),
        ("74Of47O7bebcf74f9b7c25d48e3358945f6aaO1da5ddb387462c7eaf61bb78ad", "O", 3),
        ("DEADBEEFG", "G", 9),
        ("740f4707-bebc-f74f-9b7c-25d48e335894", "-", 9),
        ("74+0f+47+07+be+bc", "+", 3),
        ("740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad\n", "\n", 65),
        ("740f4707bebcf74f9b7c25d48e335894_5f6aa01da5ddb387462c7eaf61bb78ad", "_", 33),
        ("740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad\u{200B}", "\u{200B}", 65),
        ("\u{FEFF}740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "\u{FEFF}", 1),
        ("740f4707bebcf74f9b7c25d48e3358é45f6aa01da5ddb387462c7eaf61bb78ad", "é", 31),
        ("<740f4707 bebcf74f 9b7c25d4 8e33589Z>", "Z", 36),
        ("740f4707bebcf74f9b7c25d48e3358945f6aa0lda5ddb387462c7eaf6lbb78ad", "l", 39),
        ("74:0f:47:07:be:bc:f7:4f", ":", 3),
        ("740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad740f4707bebcf74f9b7c25d48e33589h", "h", 96),
    ]

    @Test(arguments: mistyped)
    func `nearly hexadecimal text is no base64, and its wrong character is named`(
        text: String, stray: Unicode.Scalar, place: Int
    ) {
        #expect(read(text) == .failure(.stray(stray, place: place)))
    }

    @Test func `a token has at most 100 bytes`() {
        #expect(read(String(repeating: "ab", count: 100)) == .success([UInt8](repeating: 0xAB, count: 100)))
        #expect(read(String(repeating: "ab", count: 101)) == .failure(.tooLong(101)))
        #expect(read(String(repeating: "zzzz", count: 34)) == .failure(.tooLong(102)))
    }

    @Test func `a fault leaves the bytes as they were`() {
        for text in ["abc", "", "DEADBEEFG", String(repeating: "ab", count: 101)] {
            var bytes: [UInt8] = [1, 2, 3]
            _ = TokenSpelling.append(Array(text.utf8).span, to: &bytes)
            #expect(bytes == [1, 2, 3], "\(text)")
        }
    }

    @Test func `hexadecimal and base64 of the same bytes are the same token`() {
        for seed in UInt64(0)..<500 {
            var random = SeededGenerator(seed: seed)
            let bytes = (0..<Int.random(in: 1...100, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let hex = DeviceToken(bytes: bytes).hex
            #expect(read(hex) == .success(bytes) && read("<\(hex.uppercased())>") == .success(bytes), "seed \(seed)")
            let text = base64(bytes)
            // A short text of hexadecimal digits, or nearly so, is hexadecimal, whoever meant it as base64.
            if bytes.count > 20 { #expect(read(text) == .success(bytes), "seed \(seed)") }
        }
    }

    @Test func `no text traps`() {
        for seed in UInt64(0)..<2_000 {
            var random = SeededGenerator(seed: seed)
            let alphabet = Array("0aZ<> =+/-_é\u{0}".utf8)
            let text = (0..<Int.random(in: 0...260, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            var bytes: [UInt8] = []
            if case .success(let count) = TokenSpelling.append(text.span, to: &bytes) {
                #expect(count == bytes.count && (1...100).contains(count), "seed \(seed)")
            }
        }
    }

    private func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            for digit in 0...part.count { text.append(alphabet[bits >> (18 - 6 * digit) & 63]) }
            text += String(repeating: "=", count: 3 - part.count)
        }
        return text
    }
}

struct DeviceTokenTests {
    @Test func `a token is spelled as its bytes are, behind what is there`() {
        for count in 0...DeviceToken.maximumByteCount {
            var random = SeededGenerator(seed: UInt64(count))
            let bytes = (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
            let token = DeviceToken(bytes: bytes)
            let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            var spelled = Array("before ".utf8)
            token.appendHex(to: &spelled)
            #expect(token.hex == text && String(decoding: spelled, as: UTF8.self) == "before " + text, "\(count) bytes")
        }
    }

    @Test func `a printed token shows four bytes only`() throws {
        let token = try #require(DeviceToken("740f4707bebcf74f9b7c25d48e335894"))
        #expect("\(token)" == "740f4707…" && String(reflecting: token) == "740f4707…")
        #expect(token.hex == "740f4707bebcf74f9b7c25d48e335894")
    }
}

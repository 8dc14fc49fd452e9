import APNSModel
import JobFormat
import PushModel
import Testing

struct PackedTokenTests {
    @Test func `a token is packed, a faulty one leaves no trace`() {
        var packed = PackedBytes(reservingByteCount: 100)
        for text in ["0A0b", "xyz!", "", "<0c 0d>", "123"] { _ = packed.append(token: Array(text.utf8).span) }
        #expect(packed.count == 2 && packed.bytes == [0x0A, 0x0B, 0x0C, 0x0D])
        #expect(packed.append(token: Array("123".utf8).span) == .oddDigitCount(3))
    }
}

import APNSModel
import DoorModel
import PushModel
import Testing
import XML

struct MethodResponseTests {
    private func xml(_ response: MethodResponse) -> String {
        String(decoding: response.bytes, as: UTF8.self)
    }

    private let head = "<?xml version=\"1.0\"?>\n<methodResponse>"

    @Test func `nothing is nil`() {
        #expect(
            xml(.nothing) == head + "<params><param><value><nil/></value></param></params></methodResponse>\n")
    }

    @Test func `feedback is an array of times and tokens`() {
        let tokens = [
            LostToken(DeviceToken(bytes: [0xAB, 0x01]), goneSince: WallTime(epochSeconds: 1_795_750_200)),
            LostToken(DeviceToken(bytes: [0xFF]), goneSince: WallTime(nanoseconds: 999_999_999)),
        ]
        let rows = [("20261127T03:30:00", "ab01"), ("19700101T00:00:00", "ff")].map { time, token in
            "<value><array><data><value><dateTime.iso8601>\(time)</dateTime.iso8601></value>"
                + "<value><string>\(token)</string></value></data></array></value>"
        }
        let (before, after) = ("<params><param><value><array><data>", "</data></array></value></param></params>")
        #expect(xml(.feedback(tokens)) == head + before + rows.joined() + after + "</methodResponse>\n")
        #expect(xml(.feedback([])) == head + before + after + "</methodResponse>\n")
    }

    @Test func `a fault has its code and its text, escaped`() {
        let text = "a<b> & \"c\"\r\n\u{1}é\u{FFFE}😀"
        let members =
            "<member><name>faultCode</name><value><int>500</int></value></member><member><name>faultString</name>"
            + "<value><string>a&lt;b&gt; &amp; \"c\"&#13;\n\u{FFFD}é\u{FFFD}😀</string></value></member>"
        #expect(
            xml(.fault(.notAccepted(text)))
                == head + "<fault><value><struct>\(members)</struct></value></fault></methodResponse>\n")
    }

    @Test func `every fault is well-formed XML with its text`() throws {
        for first in UInt32(0)..<0x300 {
            let scalars = (0..<8).compactMap { Unicode.Scalar(first + $0 * 0x1FFF) }
            let text = String(String.UnicodeScalarView(scalars))
            let reader = DocumentReader(MethodResponse.fault(.notAccepted(text)).bytes, depth: 8, byteCount: 4096)
            var last: [UInt8] = []
            while let event = try reader.next() { if case .text(let text) = event, text != [0x0A] { last = text } }
            #expect(String(decoding: last, as: UTF8.self).unicodeScalars.count == scalars.count, "from \(first)")
        }
    }
}

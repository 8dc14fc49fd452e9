import HTTP2
import Testing

/// Requests laid end to end.
struct RequestSheetTests {
    private static func head(_ bytes: [UInt8], holes: [Int] = []) -> EncodedHead {
        var head = EncodedHead()
        head.bytes = bytes
        head.holes = holes
        return head
    }

    private static func bytes(of sheet: borrowing RequestSheet) -> [UInt8] {
        var bytes: [UInt8] = []
        sheet.withFrames { frames in bytes = frames.indices.map { frames[$0] } }
        return bytes
    }

    @Test func `a sheet holds one HEADERS and one DATA frame for each request`() {
        var sheet = RequestSheet(byteLimit: 1_000)
        sheet.layOut(Self.head([1, 2, 3]), body: [9, 8], count: 2)
        sheet.setStreams(from: 0x0102_0305)
        #expect(sheet.count == 2 && sheet.requestByteCount == 23)
        let expected: [Frame] = [
            .headers(0x0102_0305, [1, 2, 3], flags: 4), .data(0x0102_0305, [9, 8]),
            .headers(0x0102_0307, [1, 2, 3], flags: 4), .data(0x0102_0307, [9, 8]),
        ]
        #expect(Self.bytes(of: sheet) == expected.flatMap(\.bytes))
    }

    @Test func `holes are filled in place`() {
        var sheet = RequestSheet(byteLimit: 1_000)
        sheet.layOut(Self.head([4, 2, 0, 0], holes: [2]), body: [7], count: 3)
        for request in 0..<3 {
            let offset = sheet.offset(ofHole: 0, request: request)
            sheet.withHoles { bytes in bytes[offset + 1] = UInt8(request) }
        }
        sheet.setStreams(from: 5)
        let heads = Frame.split(Self.bytes(of: sheet)).frames.filter { $0.type == 1 }
        #expect(heads.map(\.payload) == [[4, 2, 0, 0], [4, 2, 0, 1], [4, 2, 0, 2]])
    }

    @Test(arguments: [(1, 1), (22, 1), (46, 2), (68, 2), (69, 3), (1_000, 9)])
    func `a write ends before its limit, but never before its first request`(limit: Int, count: Int) {
        var sheet = RequestSheet(byteLimit: limit)
        sheet.layOut(Self.head([1, 2, 3]), body: [9, 8], count: 9)
        #expect(sheet.count == count)
    }

    @Test func `a sheet is laid out anew for another head or body`() {
        var sheet = RequestSheet(byteLimit: 1_000)
        for (head, body) in [([1], [2]), ([1], [3]), ([4], [3]), ([4, 5], []), ([1], [2])] as [([UInt8], [UInt8])] {
            sheet.layOut(Self.head(head), body: body, count: 3)
            sheet.setStreams(from: 1)
            var expected: [UInt8] = []
            for stream: UInt32 in [1, 3, 5] {
                expected += Frame.headers(stream, head, flags: 4).bytes + Frame.data(stream, body).bytes
            }
            #expect(Self.bytes(of: sheet) == expected)
        }
    }

    @Test func `a sheet shrinks and grows`() {
        var sheet = RequestSheet(byteLimit: 1_000)
        for count in [2, 1, 5, 0, 3] {
            sheet.layOut(Self.head([1]), body: [2], count: count)
            sheet.setStreams(from: 11)
            let frames = Frame.split(Self.bytes(of: sheet)).frames
            let expected: [UInt32] = [11, 11, 13, 13, 15, 15, 17, 17, 19, 19]
            #expect(frames.map(\.stream) == Array(expected.prefix(2 * count)))
        }
    }

    @Test func `an empty sheet has nothing to write`() {
        var sheet = RequestSheet(byteLimit: 10)
        sheet.setStreams(from: 1)
        #expect(Self.bytes(of: sheet).isEmpty && sheet.offset(ofHole: 3, request: 1) == 0)
    }
}

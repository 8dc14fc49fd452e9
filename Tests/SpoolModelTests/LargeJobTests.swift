import Document
import JSON
import JobFormat
import PushModel
import SpoolModel
import Testing

struct LargeJobTests {
    @Test func `a hundred thousand tokens are a hundred batches`() {
        let tokens = (0..<100_000).map { "\"\(String(0x1000_0000 + $0, radix: 16))\"" }.joined(separator: ",")
        var parser = JSON.Parser()
        let source = Array("{\"alert\":\"x\",\"tokens\":[\(tokens)]}".utf8)
        var reader = DocumentJobReader(parsing: source, with: &parser, context: context())
        #expect(reader.validate().recipientCount == 100_000)
        var (batches, next) = (0, 0)
        while let chunk = reader.next() {
            #expect(chunk.indices.lowerBound == next && chunk.rejected.isEmpty)
            (batches, next) = (batches + chunk.batches.count, chunk.indices.upperBound)
        }
        #expect(batches == 98 && next == 100_000)
    }
}

import LinuxIO
import Testing

struct ProcessorChecksumTests {
    /// The values of RFC 3720 §B.4, and of the digits that catalogues of checksums use.
    @Test(
        .enabled(if: ProcessorChecksum.crc32c([0].span) != nil),
        arguments: [
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA), ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            ([UInt8](0..<32), 0x46DD_794E), (Array("123456789".utf8), 0xE306_9283), ([], 0),
        ] as [([UInt8], UInt32)])
    func `the processor's checksum is CRC-32C`(bytes: [UInt8], checksum: UInt32) {
        #expect(ProcessorChecksum.crc32c(bytes.span) == checksum)
    }
}

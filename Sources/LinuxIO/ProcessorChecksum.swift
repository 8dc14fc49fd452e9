import CLinux

/// CRC-32C (RFC 3720 §12.1) by the processor's own instruction.
package enum ProcessorChecksum {
    private static let isAvailable = clinux_has_crc32c() != 0

    /// Returns the checksum of the bytes, at about 8 GB/s; `nil` if the processor has no instruction for it.
    package static func crc32c(_ bytes: Span<UInt8>) -> UInt32? {
        guard isAvailable else { return nil }
        return unsafe bytes.withUnsafeBufferPointer { unsafe clinux_crc32c($0.baseAddress, $0.count) }
    }
}

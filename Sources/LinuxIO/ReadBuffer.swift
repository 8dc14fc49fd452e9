extension [UInt8] {
    /// A buffer for the kernel to write into, whose bytes have no defined values before. Unlike one full of zeros, it takes
    /// only as many pages as are written.
    static func readBuffer(byteCount: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { $1 = byteCount }
    }
}

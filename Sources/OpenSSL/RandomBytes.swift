import COpenSSL

/// Unpredictable bytes, good for keys and identifiers.
package enum RandomBytes {
    /// Returns `count` fresh bytes.
    ///
    /// Traps when the system has no source of randomness: nothing safe can be done without one.
    package static func make(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBufferPointer { space in
            unsafe RAND_bytes(space.baseAddress, Int32(space.count))
        }
        precondition(count == 0 || result == 1, "the system's source of randomness failed")
        return bytes
    }
}

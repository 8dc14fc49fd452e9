import COpenSSL

/// Cryptographically secure random bytes, suitable for keys and identifiers.
package enum RandomBytes {
    /// Returns `count` fresh bytes.
    ///
    /// Traps if the system's random number generator fails, because nothing safe can be done without it.
    package static func make(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBufferPointer { space in
            unsafe RAND_bytes(space.baseAddress, Int32(space.count))
        }
        precondition(count == 0 || result == 1, "the system's source of randomness failed")
        return bytes
    }
}

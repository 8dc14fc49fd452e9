import COpenSSL
import Synchronization

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

    /// Bytes that have been drawn and not used yet: a draw costs thousands of instructions and a system call, however few
    /// bytes it returns.
    private static let stock = Mutex(ArraySlice<UInt8>())

    /// Returns a fresh number of 128 bits, for an identifier. Cheap; traps as ``make(count:)`` does.
    package static func makeNumber() -> UInt128 {
        stock.withLock { stock in
            if stock.isEmpty { stock = make(count: 64 * 16)[...] }
            defer { stock = stock.dropFirst(16) }
            return stock.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
        }
    }
}

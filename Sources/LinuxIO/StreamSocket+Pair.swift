import CLinux
import Glibc

extension StreamSocket {
    /// Two descriptors connected to each other (socketpair(2), AF_UNIX), non-blocking: for tests and self-contained
    /// demonstrations. Adopt each on the reactor it shall live on.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package static func makePair() throws(SystemError) -> DescriptorPair {
        var numbers: [Int32] = [-1, -1]
        guard unsafe clinux_stream_pair(&numbers) == 0 else { throw .last("socketpair") }
        return DescriptorPair(one: Descriptor(adopting: numbers[0]), other: Descriptor(adopting: numbers[1]))
    }
}

/// The two ends of a socket pair.
package struct DescriptorPair: ~Copyable, Sendable {
    /// One end.
    package let one: Descriptor
    /// The other end.
    package let other: Descriptor
}

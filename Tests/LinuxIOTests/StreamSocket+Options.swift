import Glibc
import Testing

@testable import LinuxIO

extension StreamSocket {
    /// The local address; `nil` for a socket pair.
    var localAddress: SocketAddress? {
        unsafe SocketAddress.asked { unsafe getsockname(channel.descriptor.rawValue, $0, $1) }
    }

    /// Sets the size of the kernel's buffer for sending (SO_SNDBUF) or receiving (SO_RCVBUF) to so many bytes.
    func setBuffer(_ option: Int32, _ byteCount: Int32) {
        var byteCount = byteCount
        let length = socklen_t(MemoryLayout<Int32>.size)
        #expect(unsafe setsockopt(channel.descriptor.rawValue, SOL_SOCKET, option, &byteCount, length) == 0)
    }
}

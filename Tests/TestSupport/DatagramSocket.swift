import Glibc
package import LinuxIO

/// A Unix domain socket that datagrams come to: for a test that stands in for a service manager.
package final class DatagramSocket: Sendable {
    private let descriptor: Descriptor

    /// Makes one under a path, or behind an `@` under a name in the abstract namespace.
    ///
    /// - Throws: `SystemError`: the name is taken or too long.
    package init(_ name: String) throws(SystemError) {
        var bytes = Array(name.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        var address = sockaddr_un()
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SystemError(code: ENAMETOOLONG, operation: "bind", subject: name)
        }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path) + bytes.count
        let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        guard number >= 0 else { throw .last("socket") }
        descriptor = Descriptor(adopting: number)
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(number, address, socklen_t(length))
            }
        }
        guard status == 0, fcntl(number, F_SETFL, O_NONBLOCK) == 0 else { throw .last("bind", name) }
    }

    /// What has come since the last call, in order.
    package func received() -> [String] {
        var datagrams: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(descriptor.rawValue, &buffer, buffer.count, 0)
            guard count >= 0 else { return datagrams }
            datagrams.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
    }
}

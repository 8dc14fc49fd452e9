import CLinux
import Glibc

/// The address of one end of a TCP connection: an IPv4 or IPv6 address and a port.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address families.
    package enum Family: Sendable, Hashable {
        /// IPv4, 4 bytes.
        case v4
        /// IPv6, 16 bytes.
        case v6
    }

    /// The family of `address`.
    package let family: Family
    /// The address in network order, 4 or 16 bytes.
    package let address: [UInt8]
    /// The port in host order; 0 lets the kernel choose when listening.
    package let port: UInt16
    /// The interface index of a link-local IPv6 address, else 0.
    package let scope: UInt32

    /// Parses an address like inet_pton(3): `127.0.0.1`, `::1`; no names, no brackets, no scope.
    ///
    /// - Returns: `nil` for other text.
    package init?(host: String, port: UInt16) {
        var four = in_addr()
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, host, &four) == 1 {
            let bytes = unsafe withUnsafeBytes(of: &four) { unsafe Array($0) }
            self.init(family: .v4, address: bytes, port: port)
        } else if unsafe inet_pton(AF_INET6, host, &six) == 1 {
            let bytes = unsafe withUnsafeBytes(of: &six) { unsafe Array($0) }
            self.init(family: .v6, address: bytes, port: port)
        } else {
            return nil
        }
    }

    /// Parses an address with a port: `127.0.0.1:2195`, `[::1]:2195`.
    ///
    /// - Returns: `nil` for other text, including names, which `HostPort` parses.
    package init?(_ text: String) {
        guard let parts = HostPort(text) else { return nil }
        self.init(host: parts.host, port: parts.port)
    }

    /// The IPv4 loopback address, 127.0.0.1.
    package static func loopback(port: UInt16 = 0) -> SocketAddress {
        SocketAddress(family: .v4, address: [127, 0, 0, 1], port: port)
    }

    /// Whether only programs on this host can reach it: 127.0.0.0/8 and ::1.
    package var isLoopback: Bool {
        switch family {
        case .v4: address.first == 127
        case .v6: address == Array(repeating: 0, count: 15) + [1]
        }
    }

    /// The same address with another port.
    package func withPort(_ port: UInt16) -> SocketAddress {
        SocketAddress(family: family, address: address, port: port, scope: scope)
    }

    /// The address without the port: `127.0.0.1`, `::1`.
    package var host: String {
        let kernelFamily = family == .v4 ? AF_INET : AF_INET6
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let length = socklen_t(INET6_ADDRSTRLEN)
            guard let start = unsafe inet_ntop(kernelFamily, address, text.baseAddress, length) else { return "?" }
            return unsafe String(cString: start)
        }
    }

    /// Address and port: `127.0.0.1:2195`, `[::1]:2195`.
    package var description: String {
        family == .v4 ? "\(host):\(port)" : "[\(host)]:\(port)"
    }

    private init(family: Family, address: [UInt8], port: UInt16, scope: UInt32 = 0) {
        self.family = family
        self.address = address
        self.port = port
        self.scope = scope
    }
}

// The kernel's representation.
extension SocketAddress {
    var kernelFamily: Int32 { family == .v4 ? AF_INET : AF_INET6 }

    /// Calls `body` with the address in the form that bind(2) and connect(2) take.
    func withKernelForm(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        switch family {
        case .v4:
            var form = sockaddr_in()
            form.sin_family = sa_family_t(AF_INET)
            form.sin_port = port.bigEndian
            unsafe withUnsafeMutableBytes(of: &form.sin_addr) { unsafe $0.copyBytes(from: address) }
            return unsafe Self.call(body, with: form)
        case .v6:
            var form = sockaddr_in6()
            form.sin6_family = sa_family_t(AF_INET6)
            form.sin6_port = port.bigEndian
            form.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &form.sin6_addr) { unsafe $0.copyBytes(from: address) }
            return unsafe Self.call(body, with: form)
        }
    }

    /// Converts an address from the kernel's form; `nil` for another family, such as AF_UNIX.
    init?(kernelForm: UnsafePointer<sockaddr>) {
        switch unsafe Int32(kernelForm.pointee.sa_family) {
        case AF_INET:
            var form = unsafe UnsafeRawPointer(kernelForm).loadUnaligned(as: sockaddr_in.self)
            let bytes = unsafe withUnsafeBytes(of: &form.sin_addr) { unsafe Array($0) }
            self.init(family: .v4, address: bytes, port: UInt16(bigEndian: form.sin_port))
        case AF_INET6:
            var form = unsafe UnsafeRawPointer(kernelForm).loadUnaligned(as: sockaddr_in6.self)
            let bytes = unsafe withUnsafeBytes(of: &form.sin6_addr) { unsafe Array($0) }
            let port = UInt16(bigEndian: form.sin6_port)
            self.init(family: .v6, address: bytes, port: port, scope: form.sin6_scope_id)
        default:
            return nil
        }
    }

    /// Returns the address that getsockname(2) or getpeername(2) reports.
    static func asked(_ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32)
        -> SocketAddress?
    {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            let form = unsafe UnsafeMutableRawPointer(storage).assumingMemoryBound(to: sockaddr.self)
            guard unsafe call(form, &length) == 0 else { return nil }
            return unsafe SocketAddress(kernelForm: form)
        }
    }

    private static func call<Form>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32, with form: Form) -> Int32 {
        unsafe withUnsafeBytes(of: form) { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }
}

import CZeroMQ
import Glibc
import LinuxIO

/// Owns a socket of type ROUTER and the context that it is alone in.
@safe struct SocketHandle: ~Copyable {
    private let context: UnsafeMutableRawPointer
    private let socket: UnsafeMutableRawPointer

    private init(context: UnsafeMutableRawPointer, socket: UnsafeMutableRawPointer) {
        unsafe (self.context, self.socket) = (context, socket)
    }

    /// Creates a socket that is not bound.
    ///
    /// - Throws: `ReplySocketError`: EMFILE, ENOMEM.
    static func open(_ options: ReplySocket.Options) throws(ReplySocketError) -> SocketHandle {
        guard let context = unsafe zmq_ctx_new() else { throw .last("zmq_ctx_new") }
        unsafe zmq_ctx_set(context, ZMQ_IO_THREADS, 1)
        unsafe zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 1)
        guard let socket = unsafe zmq_socket(context, ZMQ_ROUTER) else {
            let error = ReplySocketError.last("zmq_socket")
            unsafe zmq_ctx_term(context)
            throw error
        }
        let handle = unsafe SocketHandle(context: context, socket: socket)
        try handle.apply(options)
        return handle
    }

    deinit {
        // Neither can fail on handles that this value owns; a signal may interrupt the second.
        unsafe zmq_close(socket)
        while unsafe zmq_ctx_term(context) != 0, zmq_errno() == EINTR {}
    }

    private func apply(_ options: ReplySocket.Options) throws(ReplySocketError) {
        let waiting = max(1, Int32(clamping: options.waitingLimit))
        try set(ZMQ_LINGER, to: options.linger.wholeMilliseconds, "ZMQ_LINGER")
        try set(ZMQ_MAXMSGSIZE, to: Int64(clamping: options.requestByteLimit), "ZMQ_MAXMSGSIZE")
        try set(ZMQ_RCVHWM, to: waiting, "ZMQ_RCVHWM")
        try set(ZMQ_SNDHWM, to: max(1, Int32(clamping: options.replyLimit)), "ZMQ_SNDHWM")
        try set(ZMQ_HANDSHAKE_IVL, to: options.handshakeLimit.wholeMilliseconds, "ZMQ_HANDSHAKE_IVL")
        // Without a domain, libzmq takes clients without a greeting (ZMTP 1.0), for whom any bytes would do: a web page could
        // have a browser send them.
        try set(ZMQ_ZAP_DOMAIN, to: Array("pushspool".utf8), "ZMQ_ZAP_DOMAIN")
        // Without it, a reply to a client that has gone is dropped silently.
        try set(ZMQ_ROUTER_MANDATORY, to: Int32(1), "ZMQ_ROUTER_MANDATORY")
        // So that clients whose host has died do not keep their connections.
        try set(ZMQ_TCP_KEEPALIVE, to: Int32(1), "ZMQ_TCP_KEEPALIVE")
    }

    private func set(
        _ option: Int32, to value: some FixedWidthInteger & BitwiseCopyable, _ name: String
    ) throws(ReplySocketError) {
        let code = unsafe withUnsafeBytes(of: value) { bytes in
            unsafe zmq_setsockopt(socket, option, bytes.baseAddress, bytes.count)
        }
        guard code == 0 else { throw .last("zmq_setsockopt", name) }
    }

    private func set(_ option: Int32, to value: [UInt8], _ name: String) throws(ReplySocketError) {
        let code = unsafe value.withUnsafeBytes { bytes in
            unsafe zmq_setsockopt(socket, option, bytes.baseAddress, bytes.count)
        }
        guard code == 0 else { throw .last("zmq_setsockopt", name) }
    }

    /// Binds to an endpoint of TCP.
    ///
    /// - Returns: The endpoint with its port.
    func bind(to endpoint: String) throws(ReplySocketError) -> String {
        // With it, libzmq binds an address of IPv4 as one of IPv6.
        if endpoint.contains("[") || endpoint.contains("*") { try set(ZMQ_IPV6, to: Int32(1), "ZMQ_IPV6") }
        guard unsafe zmq_bind(socket, endpoint) == 0 else { throw .last("zmq_bind", endpoint) }
        var text = [CChar](repeating: 0, count: 256)
        var count = text.count
        guard unsafe zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, &text, &count) == 0 else {
            throw .last("zmq_getsockopt", "ZMQ_LAST_ENDPOINT")
        }
        // The count includes the zero at the end.
        return String(decoding: text.prefix(max(0, count - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Accepts the clients of a local socket that listens already.
    func bind(to endpoint: String, over local: LocalSocket) throws(ReplySocketError) {
        let copy = try ReplySocketError.wrapping { () throws(SystemError) in try local.duplicateDescriptor() }
        try set(ZMQ_USE_FD, to: copy.rawValue, "ZMQ_USE_FD")
        guard unsafe zmq_bind(socket, endpoint) == 0 else { throw .last("zmq_bind", endpoint) }
        // It closes the copy with the socket.
        _ = copy.relinquish()
    }

    /// Returns a copy of the descriptor that becomes readable when there is news for the owner of the socket.
    func duplicateDescriptor() throws(SystemError) -> Descriptor {
        var number: Int32 = -1
        var count = MemoryLayout<Int32>.size
        let code = unsafe zmq_getsockopt(socket, ZMQ_FD, &number, &count)
        guard code == 0 else { throw .last("zmq_getsockopt", "ZMQ_FD") }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .last("fcntl", "F_DUPFD_CLOEXEC") }
        return Descriptor(adopting: copy)
    }

    /// Receives a message: its first parts. `nil` means also that all the news that the descriptor told of was read.
    func receive() throws(ReplySocketError) -> [[UInt8]]? {
        let part = MessagePart()
        guard try receive(part) else { return nil }
        var parts = [part.bytes]
        // The parts arrive together.
        while part.hasMore, try receive(part) {
            if parts.count < ReplyRequest.partLimit { parts.append(part.bytes) }
        }
        return parts
    }

    /// Receives a part, if there is one.
    private func receive(_ part: borrowing MessagePart) throws(ReplySocketError) -> Bool {
        while unsafe !part.receive(from: socket) {
            switch zmq_errno() {
            case EAGAIN: return false
            case EINTR: continue
            default: throw .last("zmq_msg_recv")
            }
        }
        return true
    }

    /// Sends a message, of which the first part names the client.
    func send(_ parts: [[UInt8]]) throws(ReplySocketError) -> ReplySocket.Delivery {
        // What the thread of libzmq has written to the network is news that `zmq_send` alone takes only now and then.
        var (events, count) = (Int32(0), MemoryLayout<Int32>.size)
        unsafe _ = zmq_getsockopt(socket, ZMQ_EVENTS, &events, &count)
        for index in parts.indices {
            let flags = index + 1 < parts.count ? ZMQ_DONTWAIT | ZMQ_SNDMORE : ZMQ_DONTWAIT
            while unsafe zmq_send(socket, parts[index], parts[index].count, flags) < 0 {
                switch zmq_errno() {
                case EINTR: continue
                case EHOSTUNREACH: return .gone
                case EAGAIN: return .full
                default: throw .last("zmq_send")
                }
            }
        }
        return .sent
    }
}

/// Owns one part of a message in libzmq's memory.
@safe private struct MessagePart: ~Copyable {
    private let pointer = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: 1)

    init() { unsafe zmq_msg_init(pointer) }

    deinit {
        unsafe zmq_msg_close(pointer)
        unsafe pointer.deallocate()
    }

    /// Receives the next part, in place of the one before, without waiting. Returns whether it did; else libzmq knows why.
    borrowing func receive(from socket: UnsafeMutableRawPointer) -> Bool {
        unsafe zmq_msg_recv(pointer, socket, ZMQ_DONTWAIT) >= 0
    }

    /// Whether the message has more parts.
    var hasMore: Bool { unsafe zmq_msg_more(pointer) != 0 }

    /// A copy of the part.
    var bytes: [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: zmq_msg_data(pointer), count: zmq_msg_size(pointer)))
    }
}

extension Duration {
    /// The milliseconds, from 0 to the greatest that libzmq takes.
    fileprivate var wholeMilliseconds: Int32 {
        Int32(max(0, min(self / .milliseconds(1), Double(Int32.max))))
    }
}

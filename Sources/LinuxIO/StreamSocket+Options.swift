import CLinux

extension StreamSocket {
    /// Sends small writes at once instead of collecting them (TCP_NODELAY), for writers that do their own buffering.
    ///
    /// - Throws: `SystemError`: not a TCP socket.
    package func setNoDelay() throws(SystemError) {
        try setTCPOption(clinux_tcp_nodelay, 1, "TCP_NODELAY")
    }

    /// Makes the kernel probe the peer while the connection is idle, and break the connection (ETIMEDOUT) after three
    /// unanswered probes in a row. This also keeps entries in NATs and firewalls alive.
    ///
    /// - Parameters:
    ///   - idle: idle time before the first probe; whole seconds, 1 to 32767.
    ///   - interval: time between probes; whole seconds, 1 to 32767.
    /// - Throws: `SystemError`: not a TCP socket, or a time out of range.
    package func setKeepAlive(idle: Duration = .seconds(60), interval: Duration = .seconds(15)) throws(SystemError) {
        try setOption(SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE")
        try setTCPOption(clinux_tcp_keepidle, Int32(clamping: idle.components.seconds), "TCP_KEEPIDLE")
        try setTCPOption(clinux_tcp_keepintvl, Int32(clamping: interval.components.seconds), "TCP_KEEPINTVL")
        try setTCPOption(clinux_tcp_keepcnt, 3, "TCP_KEEPCNT")
    }

    /// Makes the kernel break the connection (ETIMEDOUT) if sent bytes stay unacknowledged for this long
    /// (TCP_USER_TIMEOUT, RFC 5482). The resolution is milliseconds; 0 selects the system's default, many minutes.
    ///
    /// - Throws: `SystemError`: not a TCP socket.
    package func setUserTimeout(_ timeout: Duration) throws(SystemError) {
        let (seconds, attoseconds) = timeout.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        try setTCPOption(clinux_tcp_user_timeout, Int32(clamping: milliseconds), "TCP_USER_TIMEOUT")
    }

    private func setTCPOption(_ option: some BinaryInteger, _ value: Int32, _ name: String) throws(SystemError) {
        try setOption(Int32(clinux_ipproto_tcp), Int32(option), value, name)
    }

    private func setOption(_ level: Int32, _ option: Int32, _ value: Int32, _ name: String) throws(SystemError) {
        var value = value
        let length = socklen_t(MemoryLayout<Int32>.size)
        let code = unsafe setsockopt(channel.descriptor.rawValue, level, option, &value, length)
        guard code == 0 else { throw .last("setsockopt", name) }
    }
}

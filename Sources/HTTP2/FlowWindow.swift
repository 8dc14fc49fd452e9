/// The number of bytes that may be sent: the bytes granted less the bytes sent. Negative after the peer lowered the
/// initial window.
struct FlowWindow: Hashable, Sendable {
    /// The maximum of a window, 2³¹ − 1 (RFC 9113 §6.9.1).
    static let limit = 0x7fff_ffff
    /// The initial size of every window, unless SETTINGS_INITIAL_WINDOW_SIZE changes it for streams.
    static let initialByteCount = 65_535

    private(set) var byteCount = Self.initialByteCount

    /// Adds the increment of a WINDOW_UPDATE. Returns `false` and changes nothing if the window would exceed its
    /// maximum.
    mutating func grow(by increment: Int) -> Bool {
        guard byteCount + increment <= Self.limit else { return false }
        byteCount += increment
        return true
    }

    /// Subtracts the bytes sent.
    mutating func spend(_ count: Int) {
        byteCount -= count
    }
}

/// The number of bytes that the peer may still send, and the number to be returned to it.
struct ReceiveWindow: Hashable, Sendable {
    private let byteLimit: Int
    private var available: Int

    /// Creates a window of `byteLimit` bytes.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit
        available = byteLimit
    }

    /// Subtracts the bytes received, padding included. Returns `false` if the peer exceeded the window.
    mutating func spend(_ count: Int) -> Bool {
        guard count <= available else { return false }
        available -= count
        return true
    }

    /// Refills the window once half of it is used. Returns the increment for a WINDOW_UPDATE, or 0.
    mutating func refill() -> Int {
        let used = byteLimit - available
        guard used > 0, used >= byteLimit / 2 else { return 0 }
        available = byteLimit
        return used
    }
}

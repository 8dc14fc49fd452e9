/// How much may be sent: what the peer granted, less what was sent. Negative after the peer took some back.
struct FlowWindow: Hashable, Sendable {
    /// No window may grow beyond 2³¹ − 1 (RFC 9113 §6.9.1).
    static let limit = 0x7fff_ffff
    /// What every window begins with, unless SETTINGS_INITIAL_WINDOW_SIZE says otherwise for streams.
    static let initialByteCount = 65_535

    private(set) var byteCount = Self.initialByteCount

    /// Adds what a WINDOW_UPDATE grants. Returns `false`, and changes nothing, when that is more than a window can hold.
    mutating func grow(by increment: Int) -> Bool {
        guard byteCount + increment <= Self.limit else { return false }
        byteCount += increment
        return true
    }

    /// Takes off what was sent.
    mutating func spend(_ count: Int) {
        byteCount -= count
    }
}

/// How much the peer may send, and how much of it we have yet to hand back.
struct ReceiveWindow: Hashable, Sendable {
    private let byteLimit: Int
    private var available: Int

    /// Begins with a window of `byteLimit` bytes.
    init(byteLimit: Int) {
        self.byteLimit = byteLimit
        available = byteLimit
    }

    /// Takes off what arrived, padding included. Returns `false` when it is more than was allowed.
    mutating func spend(_ count: Int) -> Bool {
        guard count <= available else { return false }
        available -= count
        return true
    }

    /// Hands back what was used once that is half of the window. Returns the increment for a WINDOW_UPDATE, or 0.
    mutating func refill() -> Int {
        let used = byteLimit - available
        guard used > 0, used >= byteLimit / 2 else { return 0 }
        available = byteLimit
        return used
    }
}

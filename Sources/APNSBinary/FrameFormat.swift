package import PushModel

/// The three formats of a notification in the binary protocol (Apple, "Binary Provider API" and "Legacy Notification
/// Format").
package enum FrameFormat: UInt8, CaseIterable, Hashable, Sendable {
    /// Command 0: token and payload only. A refusal is a bare close that does not identify the notification.
    case simple = 0
    /// Command 1: with identifier and expiry.
    case enhanced = 1
    /// Command 2: a frame of items, including the priority.
    case frame = 2

    /// Whether an error reply can name the notification.
    package var carriesIdentifier: Bool { self != .simple }

    /// The carrier that determines the payload limit.
    package var carrier: Carrier {
        switch self {
        case .simple: .simple
        case .enhanced: .enhanced
        case .frame: .frame
        }
    }
}

extension Span<UInt8> {
    /// The 16 bits at `offset`, big-endian. The caller has checked that they exist.
    func bigEndianUInt16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
    }

    /// The 32 bits at `offset`, big-endian. The caller has checked that they exist.
    func bigEndianUInt32(at offset: Int) -> UInt32 {
        UInt32(bigEndianUInt16(at: offset)) << 16 | UInt32(bigEndianUInt16(at: offset + 2))
    }
}

extension [UInt8] {
    /// Appends 16 bits, big-endian.
    mutating func append(bigEndian value: UInt16) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends 32 bits, big-endian.
    mutating func append(bigEndian value: UInt32) {
        append(bigEndian: UInt16(truncatingIfNeeded: value >> 16))
        append(bigEndian: UInt16(truncatingIfNeeded: value))
    }
}

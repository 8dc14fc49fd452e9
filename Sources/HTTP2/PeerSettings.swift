/// The identifiers of SETTINGS values (RFC 9113 §6.5.2).
package enum SettingID: UInt16, Sendable {
    /// The longest table for field compression, in bytes.
    case headerTableSize = 1
    /// Whether the server may push.
    case enablePush = 2
    /// The most streams.
    case maxConcurrentStreams = 3
    /// A stream's first window, in bytes.
    case initialWindowSize = 4
    /// The longest payload of a frame, in bytes.
    case maxFrameSize = 5
    /// The longest list of fields, in bytes.
    case maxHeaderListSize = 6
    /// Our own, from the range for experiments, which peers ignore: the mark of the client's spool, for doors.
    case spoolMark = 0xF0D5
}

/// The peer's settings. They start with the protocol's default values.
struct PeerSettings: Hashable, Sendable {
    private(set) var headerTableByteCount = 4_096
    /// `nil` if the peer sets no limit.
    private(set) var streamLimit: Int?
    private(set) var initialWindow = FlowWindow.initialByteCount
    private(set) var frameByteLimit = FrameHeader.defaultPayloadLimit
    /// `nil` if the peer sets no limit.
    private(set) var headerListByteCount: Int?

    /// Applies one value. Unknown identifiers are ignored.
    ///
    /// - Throws: The fault of a value out of its range.
    mutating func apply(_ rawID: UInt16, _ value: UInt32) throws(ConnectionFault) {
        guard let id = SettingID(rawValue: rawID) else { return }
        let value = Int(value)
        switch id {
        case .headerTableSize: headerTableByteCount = value
        case .enablePush:
            guard value == 0 else { throw ConnectionFault(.protocolError, "a server set ENABLE_PUSH to \(value)") }
        case .maxConcurrentStreams: streamLimit = value
        case .initialWindowSize:
            guard value <= FlowWindow.limit else {
                throw ConnectionFault(.flowControlError, "INITIAL_WINDOW_SIZE of \(value)")
            }
            initialWindow = value
        case .maxFrameSize:
            guard (FrameHeader.defaultPayloadLimit...0xff_ffff).contains(value) else {
                throw ConnectionFault(.protocolError, "MAX_FRAME_SIZE of \(value)")
            }
            frameByteLimit = value
        case .maxHeaderListSize: headerListByteCount = value
        // Only clients send it.
        case .spoolMark: break
        }
    }
}

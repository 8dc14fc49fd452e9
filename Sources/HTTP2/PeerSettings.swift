/// The names of SETTINGS values (RFC 9113 §6.5.2).
enum SettingID: UInt16, Sendable {
    case headerTableSize = 1
    case enablePush = 2
    case maxConcurrentStreams = 3
    case initialWindowSize = 4
    case maxFrameSize = 5
    case maxHeaderListSize = 6
}

/// What the peer's SETTINGS say, beginning with the values that hold before the first.
struct PeerSettings: Hashable, Sendable {
    private(set) var headerTableByteCount = 4_096
    /// `nil`: as many as we like.
    private(set) var streamLimit: Int?
    private(set) var initialWindow = FlowWindow.initialByteCount
    private(set) var frameByteLimit = FrameHeader.defaultPayloadLimit
    /// `nil`: as long as we like.
    private(set) var headerListByteCount: Int?

    /// Takes over one value; unknown ones are ignored.
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
        }
    }
}

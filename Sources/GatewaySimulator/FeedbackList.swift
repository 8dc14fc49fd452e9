import APNSBinary
import APNSModel
import PushModel

/// A token whose app was removed from the device, as the feedback service reports it.
public struct GoneToken: Sendable, Hashable {
    /// The token's bytes: 0 to 65,535.
    public let token: [UInt8]
    /// The time at which the gateway found the app to be removed, in seconds since 1970.
    public let epochSeconds: UInt32

    /// Creates an entry of the feedback service's list.
    public init(token: [UInt8], epochSeconds: UInt32) {
        self.token = token
        self.epochSeconds = epochSeconds
    }
}

/// The way in which the simulated feedback service sends its list.
public struct FeedbackManner: Sendable, Hashable {
    /// The sizes in bytes of the pieces to send, used in turn and repeated; if empty, everything is sent at once.
    public var pieceSizes: [Int] = []
    /// The pause after each piece.
    public var pause = Duration.zero
    /// The number of bytes of the last tuple to omit.
    public var omittedByteCount = 0
    /// The number of bytes after which to reset the connection; `nil` means never.
    public var resetAfter: Int?
    /// Whether to repeat the list until the client disconnects, like a service that never ends.
    public var isEndless = false
    /// Whether reading empties the list, as with Apple's service.
    public var forgets = true

    /// Creates the ordinary behavior: the complete list at once, then the end.
    public init() {}

    /// Splits the list's bytes into the pieces to send.
    func pieces(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var rest = bytes.dropLast(max(0, omittedByteCount))
        if let resetAfter { rest = rest.prefix(max(0, resetAfter)) }
        var pieces: [ArraySlice<UInt8>] = []
        while !rest.isEmpty {
            let size = pieceSizes.isEmpty ? rest.count : max(1, pieceSizes[pieces.count % pieceSizes.count])
            pieces.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return pieces
    }
}

/// The entries of the feedback service: one for each token whose app was removed.
struct FeedbackList: Sendable {
    private(set) var entries: [GoneToken] = []
    /// Tokens that get an entry when a notification for them is accepted. `epochSecondsByToken` has the time of the entry.
    private let gone: TokenSet
    private let epochSecondsByToken: [[UInt8]: UInt32]
    /// Whether a token that is refused with status 8 gets an entry too.
    private let collectsRefused: Bool

    init(gone: [GoneToken] = [], collectsRefused: Bool = false) {
        self.gone = TokenSet(gone.map(\.token))
        self.collectsRefused = collectsRefused
        epochSecondsByToken = Dictionary(gone.map { ($0.token, $0.epochSeconds) }, uniquingKeysWith: max)
    }

    mutating func append(_ tokens: [GoneToken]) {
        entries.append(contentsOf: tokens)
    }

    /// Adds an entry if a notification that just arrived requires one.
    mutating func note(_ frame: NotificationFrame, of bytes: Span<UInt8>, as arrival: Ledger.Arrival) {
        switch arrival.outcome {
        case .accepted:
            guard gone.contains(frame.token, of: bytes) else { return }
            let token = frame.token.map { bytes[$0] }
            entries.append(GoneToken(token: token, epochSeconds: epochSecondsByToken[token] ?? 0))
        case .refused(status: 8) where collectsRefused:
            let seconds = UInt32(clamping: arrival.time.epochSeconds)
            entries.append(GoneToken(token: frame.token.map { bytes[$0] }, epochSeconds: seconds))
        case .refused, .rejected, .discarded:
            break
        }
    }

    /// Returns the list's bytes. Empties the list if `forgetting`.
    mutating func encoded(forgetting: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in entries {
            FeedbackTuple(epochSeconds: entry.epochSeconds, token: DeviceToken(bytes: entry.token.prefix(65_535)))
                .encode(to: &bytes)
        }
        if forgetting { entries = [] }
        return bytes
    }
}

import APNSBinary
import APNSModel

/// A token whose app is gone, as the feedback service tells it.
public struct GoneToken: Sendable, Hashable {
    /// The token's bytes, any number of them up to 65,535; even none.
    public let token: [UInt8]
    /// When the gateway decided that the app is gone, in seconds since 1970.
    public let epochSeconds: UInt32

    /// Creates an entry of the feedback service's list.
    public init(token: [UInt8], epochSeconds: UInt32) {
        self.token = token
        self.epochSeconds = epochSeconds
    }
}

/// How the simulated feedback service sends its list.
public struct FeedbackManner: Sendable, Hashable {
    /// How many bytes to send at a time, one size after the other and then from the first again; empty: all at once.
    public var pieceSizes: [Int] = []
    /// How long to wait after each piece.
    public var pause = Duration.zero
    /// How many bytes of the last tuple to leave out.
    public var omittedByteCount = 0
    /// After how many bytes to reset the connection; `nil`: never.
    public var resetAfter: Int?
    /// Whether to send the list again and again until the client goes: a service that never ends.
    public var isEndless = false
    /// Whether reading empties the list, as at Apple's.
    public var forgets = true

    /// Creates the manner of a service that behaves: all at once, then the end.
    public init() {}

    /// Cuts the list's bytes into the pieces to send.
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

/// What the feedback service has to tell: an entry for each token that is gone.
struct FeedbackList: Sendable {
    private(set) var entries: [GoneToken] = []
    /// Tokens that get an entry when a notification for them is accepted, and since when they are gone.
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

    /// Looks whether a notification that just arrived tells something.
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

    /// The list's bytes; empties it if `forgetting`.
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

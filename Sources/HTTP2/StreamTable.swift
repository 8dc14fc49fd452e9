/// The streams that this side opened, found by number in constant time.
///
/// Stream numbers are consecutive and streams mostly end in order, so a stream is stored in slot (number / 2) modulo a
/// power of two, which grows with the number of open streams. An open stream whose slot is needed for a newer one moves
/// to `stragglers`. An ended stream stays in its slot until then, which distinguishes late frames from invalid ones.
struct StreamTable: Sendable {
    /// The state of a stream, as far as the table remembers it.
    enum Phase: UInt8, Sendable {
        /// Forgotten or never opened.
        case unknown
        case open
        /// The peer sent END_STREAM.
        case ended
        case resetHere
        case resetThere
    }

    struct Stream: Sendable {
        var id: UInt32 = 0
        /// The send window less SETTINGS_INITIAL_WINDOW_SIZE, so that a change of that setting does not change the
        /// stream.
        var credit: Int32 = 0
        /// The slot of its response in `HeldResponses`, once the response has begun.
        var response: Int32 = -1
        var phase: Phase = .unknown
    }

    /// The initial number of slots: 4 KiB, for a connection that is rarely used.
    private static let firstCount = 256

    private var places: [Stream]
    private var mask: Int { places.count - 1 }
    private let placeLimit: Int
    private var stragglers: [UInt32: Stream] = [:]
    /// The most credit that a stream has ever had.
    private var creditBound: Int32 = 0
    private(set) var openCount = 0

    /// Creates a table that is fastest with up to `streamLimit` open streams.
    init(streamLimit: Int) {
        var count = 64
        while count < min(streamLimit, 1 << 18) * 4 { count *= 2 }
        placeLimit = count
        places = [Stream](repeating: Stream(), count: min(count, Self.firstCount))
    }

    /// Doubles the number of slots. Streams in different slots remain in different ones.
    private mutating func grow() {
        let former = places
        places = [Stream](repeating: Stream(), count: former.count * 2)
        for stream in former where stream.phase != .unknown { places[place(of: stream.id)] = stream }
    }

    private func place(of id: UInt32) -> Int { Int(id >> 1) & mask }

    /// Adds a stream with `byteCount` bytes of its send window already used.
    mutating func open(_ id: UInt32, spending byteCount: Int) {
        if openCount * 4 >= places.count, places.count < placeLimit { grow() }
        let place = place(of: id)
        let former = places[place]
        if former.phase == .open { stragglers[former.id] = former }
        places[place] = Stream(id: id, credit: Int32(clamping: -byteCount), phase: .open)
        openCount += 1
    }

    /// Returns the state of the stream.
    func phase(of id: UInt32) -> Phase {
        let stream = places[place(of: id)]
        if stream.id == id { return stream.phase }
        return stragglers.isEmpty || stragglers[id] == nil ? .unknown : .open
    }

    /// The stream, if it is open.
    subscript(id: UInt32) -> Stream? {
        let stream = places[place(of: id)]
        if stream.id == id { return stream.phase == .open ? stream : nil }
        return stragglers.isEmpty ? nil : stragglers[id]
    }

    /// Stores a changed stream that is open.
    mutating func update(_ stream: Stream) {
        let place = place(of: stream.id)
        if places[place].id == stream.id {
            places[place] = stream
        } else {
            stragglers[stream.id] = stream
        }
    }

    /// Stores an open stream whose send window has grown.
    mutating func widen(_ stream: Stream) {
        creditBound = max(creditBound, stream.credit)
        update(stream)
    }

    /// Ends a stream. Returns its last value, or `nil` if it was not open.
    mutating func close(_ id: UInt32, as phase: Phase) -> Stream? {
        let place = place(of: id)
        let stream = places[place]
        if stream.id == id {
            guard stream.phase == .open else { return nil }
            places[place].phase = phase
            places[place].response = -1
            openCount -= 1
            return stream
        }
        guard !stragglers.isEmpty, let straggler = stragglers.removeValue(forKey: id) else { return nil }
        openCount -= 1
        return straggler
    }

    /// Whether no send window would be beyond 2³¹ − 1 with this SETTINGS_INITIAL_WINDOW_SIZE. Looks through the table only
    /// if a stream had been given so much that one of those open could be.
    func allow(initialWindow: Int) -> Bool {
        initialWindow + Int(creditBound) <= FlowWindow.limit
            || initialWindow + Int(openStreams.map(\.credit).max() ?? 0) <= FlowWindow.limit
    }

    /// The open streams, in no order. O(*size of the table*).
    var openStreams: [Stream] {
        places.filter { $0.phase == .open } + stragglers.values
    }
}

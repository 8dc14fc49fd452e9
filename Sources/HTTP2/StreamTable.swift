/// The streams we opened, found by number in constant time and memory.
///
/// Streams get consecutive numbers and mostly end in order, so each has the place (number / 2) modulo a power of two, which
/// grows with the streams that are open at a time. A stream that hangs while that many others come and go moves aside when
/// its place is needed. What ended keeps its place until then, so that late frames are told from wrong ones.
struct StreamTable: Sendable {
    /// Where a stream stands, as far as it is remembered.
    enum Phase: UInt8, Sendable {
        /// No longer known, or never opened.
        case unknown
        case open
        /// The peer's END_STREAM came.
        case ended
        case resetHere
        case resetThere
    }

    struct Stream: Sendable {
        var id: UInt32 = 0
        /// The send window, less SETTINGS_INITIAL_WINDOW_SIZE: a change of that setting needs no change here.
        var credit: Int32 = 0
        /// The place of its response in `HeldResponses`, once that has begun.
        var response: Int32 = -1
        var phase: Phase = .unknown
    }

    /// How many places there are at first: 16 KiB, for a connection that is hardly used.
    private static let firstCount = 1024

    private var places: [Stream]
    private var mask: Int { places.count - 1 }
    private let placeLimit: Int
    private var stragglers: [UInt32: Stream] = [:]
    private(set) var openCount = 0

    /// Creates a table that is quickest for up to `streamLimit` open streams.
    init(streamLimit: Int) {
        var count = 64
        while count < min(streamLimit, 1 << 18) * 4 { count *= 2 }
        placeLimit = count
        places = [Stream](repeating: Stream(), count: min(count, Self.firstCount))
    }

    /// Doubles the places. Streams that had different ones have so again.
    private mutating func grow() {
        let former = places
        places = [Stream](repeating: Stream(), count: former.count * 2)
        for stream in former where stream.phase != .unknown { places[place(of: stream.id)] = stream }
    }

    private func place(of id: UInt32) -> Int { Int(id >> 1) & mask }

    /// Adds a stream of which `byteCount` bytes of body are already spent.
    mutating func open(_ id: UInt32, spending byteCount: Int) {
        if openCount * 4 >= places.count, places.count < placeLimit { grow() }
        let place = place(of: id)
        let former = places[place]
        if former.phase == .open { stragglers[former.id] = former }
        places[place] = Stream(id: id, credit: Int32(clamping: -byteCount), phase: .open)
        openCount += 1
    }

    /// Where the stream stands.
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

    /// Puts back a stream that is open.
    mutating func update(_ stream: Stream) {
        let place = place(of: stream.id)
        if places[place].id == stream.id {
            places[place] = stream
        } else {
            stragglers[stream.id] = stream
        }
    }

    /// Ends a stream. Returns what it was, or `nil` when it was not open.
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

    /// How far the widest send window is above SETTINGS_INITIAL_WINDOW_SIZE. O(*size of the table*).
    var greatestCredit: Int { Int(openStreams.map(\.credit).max() ?? 0) }

    /// The open streams, in no order. O(*size of the table*).
    var openStreams: [Stream] {
        places.filter { $0.phase == .open } + stragglers.values
    }
}

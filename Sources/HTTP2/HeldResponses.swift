/// A response that has begun and not ended.
struct HeldResponse: Sendable {
    var status = 0
    var fields = HeaderFields()
    var body: [UInt8] = []
    /// What `content-length` promises.
    var promisedByteCount: Int?
    var window = ReceiveWindow(byteLimit: FlowWindow.initialByteCount)

    /// What it keeps, as its limit counts.
    var byteCount: Int { fields.listByteCount + body.count }
}

/// The responses that have begun and not ended, at places that streams refer to.
struct HeldResponses: Sendable {
    /// What a place that is free may keep of its memory.
    private static let spareByteCount = 1_024

    private var places: [HeldResponse] = []
    private var free: [Int32] = []
    private(set) var byteCount = 0

    /// Keeps the head of a response whose body is still to come. Returns its place.
    mutating func hold(status: Int, promising count: Int?, _ fields: HeaderFields, in range: Range<Int>) -> Int32 {
        let place = free.popLast() ?? Int32(clamping: places.count)
        if Int(place) == places.count { places.append(HeldResponse()) }
        places[Int(place)].status = status
        places[Int(place)].promisedByteCount = count
        places[Int(place)].window = ReceiveWindow(byteLimit: FlowWindow.initialByteCount)
        places[Int(place)].fields.append(contentsOf: fields, in: range)
        byteCount += places[Int(place)].byteCount
        return place
    }

    subscript(place: Int32) -> HeldResponse { places[Int(place)] }

    /// Takes `count` bytes off the stream's receive window. Returns `false` when there were fewer.
    mutating func spend(_ count: Int, at place: Int32) -> Bool {
        places[Int(place)].window.spend(count)
    }

    /// Hands the window back if it is time to. Returns the increment, or 0.
    mutating func refill(at place: Int32) -> Int {
        places[Int(place)].window.refill()
    }

    /// Adds a piece of the body.
    mutating func append(_ bytes: Span<UInt8>, at place: Int32) {
        places[Int(place)].body.append(copying: bytes)
        byteCount += bytes.count
    }

    /// Moves fields and body to `arrivals`, as the event of a whole response. The place still has to be freed.
    func deliver(_ place: Int32, of stream: UInt32, to arrivals: inout Arrivals) {
        let (firstField, firstByte) = (arrivals.fields.count, arrivals.bytes.count)
        arrivals.fields.append(contentsOf: places[Int(place)].fields, in: 0..<places[Int(place)].fields.count)
        arrivals.bytes.append(contentsOf: places[Int(place)].body)
        arrivals.events.append(
            .response(
                stream: stream, status: places[Int(place)].status, fields: firstField..<arrivals.fields.count,
                body: firstByte..<arrivals.bytes.count))
    }

    /// Forgets a response. A place of -1 is none.
    mutating func release(_ place: Int32) {
        guard place >= 0 else { return }
        byteCount -= places[Int(place)].byteCount
        if places[Int(place)].byteCount > Self.spareByteCount {
            places[Int(place)] = HeldResponse()
        } else {
            places[Int(place)].fields.removeAll()
            places[Int(place)].body.removeAll(keepingCapacity: true)
        }
        free.append(place)
    }
}

/// An incomplete response.
struct HeldResponse: Sendable {
    var status = 0
    var fields = HeaderFields()
    var body: [UInt8] = []
    /// The length that `content-length` announces.
    var promisedByteCount: Int?
    var window = ReceiveWindow(byteLimit: FlowWindow.initialByteCount)

    /// The size of the stored data, as `Limits.heldByteCount` counts it.
    var byteCount: Int { fields.listByteCount + body.count }
}

/// The incomplete responses, in slots that streams refer to.
struct HeldResponses: Sendable {
    /// The number of bytes of capacity that a free slot may keep.
    private static let spareByteCount = 1_024

    private var places: [HeldResponse] = []
    private var free: [Int32] = []
    private(set) var byteCount = 0

    /// Stores the head of a response whose body has not arrived. Returns its slot.
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

    /// Subtracts `count` bytes from the stream's receive window. Returns `false` if the window has fewer.
    mutating func spend(_ count: Int, at place: Int32) -> Bool {
        places[Int(place)].window.spend(count)
    }

    /// Refills the stream's window once half of it is used. Returns the increment, or 0.
    mutating func refill(at place: Int32) -> Int {
        places[Int(place)].window.refill()
    }

    /// Appends a piece of the body.
    mutating func append(_ bytes: Span<UInt8>, at place: Int32) {
        places[Int(place)].body.append(copying: bytes)
        byteCount += bytes.count
    }

    /// Copies the fields and the body to `arrivals` and adds the event of a complete response. The caller must release
    /// the slot.
    func deliver(_ place: Int32, of stream: UInt32, to arrivals: inout Arrivals) {
        let (firstField, firstByte) = (arrivals.fields.count, arrivals.bytes.count)
        arrivals.fields.append(contentsOf: places[Int(place)].fields, in: 0..<places[Int(place)].fields.count)
        arrivals.bytes.append(contentsOf: places[Int(place)].body)
        arrivals.events.append(
            .response(
                stream: stream, status: places[Int(place)].status, fields: firstField..<arrivals.fields.count,
                body: firstByte..<arrivals.bytes.count))
    }

    /// Releases a slot and its response. Ignores -1, which means no slot.
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

import HTTP2

/// A machine with everything around it, fed with frames.
struct Rig {
    var machine: ConnectionMachine
    let decoder = PlainDecoder()
    var arrivals = Arrivals()
    var output: [UInt8] = []

    /// A connection whose peer has said `settings`, unless they are `nil`. `output` is empty.
    init(_ options: ConnectionMachine.Options = .init(), settings: [(UInt16, UInt32)]? = []) {
        machine = ConnectionMachine(options: options)
        machine.start(into: &output)
        output = []
        if let settings { _ = fault(.settings(settings)) }
        arrivals.removeAll()
        output = []
    }

    /// Hands over bytes.
    mutating func receive(_ bytes: [UInt8]) throws(ConnectionFault) {
        try machine.receive(bytes.span, with: decoder, arrivals: &arrivals, output: &output)
    }

    /// Hands over frames. Returns the events they cause.
    mutating func events(_ frames: Frame...) throws -> [Arrivals.Event] {
        arrivals.removeAll()
        try receive(frames.flatMap(\.bytes))
        return arrivals.events
    }

    /// Hands over frames. Returns the fault that ends the connection.
    mutating func fault(_ frames: Frame...) -> ErrorCode? {
        do throws(ConnectionFault) {
            try receive(frames.flatMap(\.bytes))
            return nil
        } catch {
            return error.code
        }
    }

    /// The frames written since the last call.
    mutating func sent() -> [Frame] {
        defer { output = [] }
        return Frame.split(output).frames
    }

    /// Opens streams for requests with an empty body.
    @discardableResult
    mutating func open(_ count: Int = 1) -> UInt32 { machine.open(count, bodyByteCount: 0) }

    /// The texts of the fields of `range`.
    func fields(_ range: Range<Int>) -> [PlainDecoder.Field] {
        range.map { index in
            PlainDecoder.Field(
                String(decoding: arrivals.fields.name(at: index), as: UTF8.self),
                String(decoding: arrivals.fields.value(at: index), as: UTF8.self))
        }
    }

    func text(_ range: Range<Int>) -> String { String(decoding: arrivals.bytes[range], as: UTF8.self) }
}

extension ConnectionMachine.Options {
    init(streamLimit: Int) {
        self.init()
        self.streamLimit = streamLimit
    }

    init(_ change: (inout Limits) -> Void) {
        self.init()
        change(&limits)
    }
}

/// `:status` 200.
let ok: [UInt8] = [0x88]
/// `:status` 400.
let bad: [UInt8] = [0x8c]
/// A literal without indexing.
func literal(_ name: String, _ value: String) -> [UInt8] {
    [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
}

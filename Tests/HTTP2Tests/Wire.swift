import HTTP2

/// One frame, written and read by the tests' own rules.
struct Frame: Hashable {
    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let count = payload.count
        let length = [
            UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8), UInt8(count & 255),
        ]
        return length + [type, flags] + stream.bytes + payload
    }

    /// All frames of `bytes`, and what is left after the last whole one.
    static func split(_ bytes: [UInt8]) -> (frames: [Frame], rest: [UInt8]) {
        var (frames, offset) = ([Frame](), 0)
        while bytes.count - offset >= 9 {
            let count = Int(bytes[offset]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
            guard bytes.count - offset >= 9 + count else { break }
            frames.append(
                Frame(
                    type: bytes[offset + 3], flags: bytes[offset + 4], stream: .init(bytes[(offset + 5)...]),
                    payload: Array(bytes[(offset + 9)..<(offset + 9 + count)])))
            offset += 9 + count
        }
        return (frames, Array(bytes[offset...]))
    }
}

/// Frames as a server writes them. Flags: 1 END_STREAM or ACK, 4 END_HEADERS, 8 PADDED, 32 PRIORITY.
extension Frame {
    static func data(_ stream: UInt32, _ body: [UInt8], flags: UInt8 = 1) -> Frame {
        Frame(type: 0, flags: flags, stream: stream, payload: body)
    }

    static func headers(_ stream: UInt32, _ block: [UInt8], flags: UInt8 = 5) -> Frame {
        Frame(type: 1, flags: flags, stream: stream, payload: block)
    }

    static func priority(_ stream: UInt32) -> Frame { Frame(type: 2, stream: stream, payload: [0, 0, 0, 0, 9]) }

    static func reset(_ stream: UInt32, _ code: ErrorCode) -> Frame {
        Frame(type: 3, stream: stream, payload: code.rawValue.bytes)
    }

    static func settings(_ values: [(UInt16, UInt32)]) -> Frame {
        Frame(type: 4, payload: values.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] + $1.bytes })
    }

    static let settingsACK = Frame(type: 4, flags: 1)

    static func ping(_ payload: UInt8, flags: UInt8 = 0) -> Frame {
        Frame(type: 6, flags: flags, payload: [0, 0, 0, 0, 0, 0, 0, payload])
    }

    static func goAway(_ last: UInt32, _ code: ErrorCode = .noError, debug: String = "") -> Frame {
        Frame(type: 7, payload: last.bytes + code.rawValue.bytes + Array(debug.utf8))
    }

    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> Frame {
        Frame(type: 8, stream: stream, payload: increment.bytes)
    }

    static func continuation(_ stream: UInt32, _ block: [UInt8], flags: UInt8 = 4) -> Frame {
        Frame(type: 9, flags: flags, stream: stream, payload: block)
    }
}

extension UInt32 {
    var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) } }

    init(_ bytes: some Sequence<UInt8>) {
        self = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension [UInt8] {
    /// The bytes of hexadecimal digits; spaces and line ends are skipped.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

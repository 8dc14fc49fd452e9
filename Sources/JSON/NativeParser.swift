private import CSimdJSON
import Document

/// Owns simdjson's parser and its buffers.
@safe final class NativeParser {
    /// The reason why a document was rejected, with the offset in the source where the problem was detected.
    enum Fault {
        case malformed(Int)
        case tooManyValues(Int)
        case outOfMemory
    }

    /// The largest document in bytes whose buffers are kept.
    private static let largestKept = 1 << 20

    private let pointer: OpaquePointer?

    init() { unsafe pointer = csimdjson_create() }

    deinit { unsafe csimdjson_destroy(pointer) }

    /// Appends the events of a document to a tape that was begun with the same range. Returns the fault, or `nil` on success.
    func parse(_ source: [UInt8], range: Range<Int>, limits: DocumentLimits, into tape: inout Tape) -> Fault? {
        guard let pointer = unsafe pointer else { return .outOfMemory }
        defer { if range.count > Self.largestKept { unsafe csimdjson_trim(pointer) } }
        return unsafe source.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return .malformed(range.lowerBound) }
            let input = unsafe csimdjson_input(
                bytes: base + range.lowerBound, length: range.count, readable: bytes.count - range.lowerBound,
                base: UInt32(range.lowerBound), max_depth: UInt32(limits.depth), max_events: limits.eventCount)
            return unsafe store(csimdjson_parse(pointer, input), into: &tape)
        }
    }

    private func store(_ result: csimdjson_result, into tape: inout Tape) -> Fault? {
        switch unsafe result.code {
        case CSIMDJSON_OK:
            let events = unsafe UnsafeBufferPointer(start: result.events, count: result.event_count)
            unsafe events.withMemoryRebound(to: Event.self) { unsafe tape.events.append(contentsOf: $0) }
            unsafe tape.arena.append(
                contentsOf: UnsafeBufferPointer(start: result.arena, count: result.arena_count))
            return nil
        case CSIMDJSON_TOO_MANY: return unsafe .tooManyValues(Int(result.offset))
        case CSIMDJSON_NO_MEMORY: return .outOfMemory
        default: return unsafe .malformed(Int(result.offset))
        }
    }
}

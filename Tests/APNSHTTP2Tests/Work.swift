import APNSHTTP2
import PushHTTP2
import PushModel

/// What the tests of the queue and of sessions send.
enum Work {
    static let job = JobID(bits: 1)

    /// Notifications whose tokens are their indices, in 32 bytes, with payloads of these lengths in turn.
    static func batch(_ indices: Range<Int>, payloadByteCounts: [Int]) -> Batch {
        guard payloadByteCounts.count > 1 else { return batch(indices) }
        var (tokens, payloads) = (PackedBytes(), PackedBytes())
        for index in indices {
            tokens.append(token(index))
            payloads.append([UInt8](repeating: 0x20, count: payloadByteCounts[index % payloadByteCounts.count]))
        }
        let header = Batch.Header(job: job, attributes: Attributes(), onDoubt: .resend)
        return Batch(header: header, firstIndex: indices.lowerBound, addresses: tokens, payloads: .each(payloads))
    }

    /// Notifications whose tokens are their indices, in 32 bytes.
    static func batch(
        _ indices: Range<Int>, job: JobID = job, onDoubt: OnDoubt = .resend,
        adjust: (inout Batch.Header) -> Void = { _ in }
    ) -> Batch {
        var tokens = PackedBytes()
        for index in indices { tokens.append(token(index)) }
        var header = Batch.Header(job: job, attributes: Attributes(), onDoubt: onDoubt)
        adjust(&header)
        return Batch(
            header: header, firstIndex: indices.lowerBound, addresses: tokens,
            payloads: .shared(Payload(bytes: Array("{}".utf8))))
    }

    static func token(_ index: Int) -> [UInt8] {
        [UInt8](repeating: 0, count: 28) + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: index >> $0) }
    }

    /// So many seconds after boot, and after noon of some day.
    static func now(_ seconds: Int = 0) -> Instant {
        Instant(.zero + .seconds(seconds), WallTime(epochSeconds: 1_800_000_000 + Int64(seconds)))
    }
}

extension RequestQueue {
    /// Takes everything that may be sent now, as indices.
    mutating func takeAll() -> [Int] {
        var indices: [Int] = []
        while let batch = next(atMost: 1_000) { indices += batch.indices }
        return indices
    }
}

extension [Settlement] {
    /// The indices that have this outcome.
    func indices(_ word: String) -> [Int] {
        filter { $0.outcome.kind.rawValue == word }.flatMap(\.batch.indices)
    }
}

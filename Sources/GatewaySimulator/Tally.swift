extension Ledger {
    /// The accepted numbers, how often each arrived, and whether in order, in one byte per number.
    ///
    /// A million notifications cost a megabyte, so that a test can check "each exactly once, in order" for a run of any size.
    public struct Tally: Sendable, Hashable {
        /// The number of arrivals of each number, at most 255. Only as long as the highest number requires.
        public private(set) var counts: [UInt8] = []
        /// The number of notifications whose number is lower than the previous one.
        public private(set) var descentCount = 0
        /// The number of notifications with a number at or beyond the limit, or a token of less than four bytes.
        public private(set) var beyondLimitCount = 0
        private let limit: Int
        private var last = 0

        init(limit: Int) {
            self.limit = limit
        }

        /// The number of numbers that arrived more than once.
        public var repeatedCount: Int { counts.count { $0 > 1 } }

        /// Whether each number from 0 up to but not including `count` arrived exactly once, and no other number arrived.
        public func isExactlyOnce(_ count: Int) -> Bool {
            beyondLimitCount == 0 && counts.count == count && counts.allSatisfy { $0 == 1 }
        }

        /// Returns the first numbers below `count` that did not arrive, at most `maximum` of them.
        public func missing(below count: Int, atMost maximum: Int = 10) -> [Int] {
            Array((0..<count).lazy.filter { $0 >= counts.count || counts[$0] == 0 }.prefix(maximum))
        }

        mutating func note(_ token: Range<Int>, of bytes: Span<UInt8>) {
            guard token.count >= 4 else {
                beyondLimitCount += 1
                return
            }
            let end = token.upperBound
            let high = Int(bytes[end - 4]) << 24 | Int(bytes[end - 3]) << 16
            note(high | Int(bytes[end - 2]) << 8 | Int(bytes[end - 1]))
        }

        fileprivate mutating func note(_ number: Int) {
            guard number < limit else {
                beyondLimitCount += 1
                return
            }
            if number >= counts.count {
                counts.append(contentsOf: repeatElement(0, count: number + 1 - counts.count))
            }
            if counts[number] < .max { counts[number] += 1 }
            if number < last { descentCount += 1 }
            last = number
        }
    }
}

extension Ledger.Tally {
    /// Records the number of a request: the last four bytes of its token or, at FCM, the digits at the end of its target.
    mutating func note(_ arrived: ArrivedRequest) {
        guard arrived.head.target != nil else { return note(arrived.token.indices, of: arrived.token.span) }
        let digits = arrived.token.reversed().prefix { (0x30...0x39).contains($0) }.reversed()
        note(Int(String(decoding: digits, as: UTF8.self)) ?? .max)
    }
}

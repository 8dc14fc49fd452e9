extension Ledger {
    /// Which numbers were accepted, how often, and whether in order, in one byte a number.
    ///
    /// A million notifications cost a megabyte, so that a test can ask for "each exactly once, in order" of any run.
    public struct Tally: Sendable, Hashable {
        /// How often each number came, 255 for that often and more; as long as the highest number needs.
        public private(set) var counts: [UInt8] = []
        /// How many notifications had a number below the one before them.
        public private(set) var descentCount = 0
        /// How many notifications had a number at or beyond the limit, or a token of less than four bytes.
        public private(set) var beyondLimitCount = 0
        private let limit: Int
        private var last = 0

        init(limit: Int) {
            self.limit = limit
        }

        /// How many numbers came more than once.
        public var repeatedCount: Int { counts.count { $0 > 1 } }

        /// Whether the numbers from 0 up to but not including `count` came once each, and no other.
        public func isExactlyOnce(_ count: Int) -> Bool {
            beyondLimitCount == 0 && counts.count == count && counts.allSatisfy { $0 == 1 }
        }

        /// The first numbers below `count` that did not come, at most `maximum` of them.
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
            let number = high | Int(bytes[end - 2]) << 8 | Int(bytes[end - 1])
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

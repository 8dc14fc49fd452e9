import Glibc
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct GoneTokensTests {
    let place: TemporaryDirectory
    private let noon = WallTime(epochSeconds: 1_795_262_400)

    init() throws {
        place = try TemporaryDirectory()
    }

    /// The tokens as a start finds them.
    private func open() throws -> GoneTokens {
        let tokens = try GoneTokens(of: "weather", in: place.directory)
        while try tokens.readOn() {}
        return tokens
    }

    private var folder: Directory {
        get throws { try place.directory.openChild(Array("gone".utf8)) }
    }

    private func token(_ number: Int, length: Int = 32) -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0xAB, count: length)
        for index in 0..<min(4, length) { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        return bytes[...]
    }

    @Test func `what is remembered is found, and nothing else is`() throws {
        let tokens = try open()
        for number in 0..<100 { try tokens.remember(token(number), goneSince: noon + .seconds(number)) }
        for number in 0..<100 {
            #expect(try tokens.goneSince(token(number), registeredAt: nil) == noon + .seconds(number))
            #expect(try tokens.goneSince(token(number + 100), registeredAt: nil) == nil)
            #expect(try tokens.goneSince(token(number).dropLast(), registeredAt: nil) == nil)
        }
        #expect(tokens.count == 100)
    }

    @Test(arguments: [true, false])
    func `what was written outlives the daemon, in a folder of its own`(isSynced: Bool) throws {
        let tokens = try open()
        for number in 0..<3 { try tokens.remember(token(number), goneSince: noon) }
        try tokens.write()
        let unsynced = tokens.takeUnsynced()
        if isSynced { try #require(unsynced).sync() }
        let next = try open()
        #expect(next.count == 3 && next.uselessByteCount == 0)
        #expect(try next.goneSince(token(2), registeredAt: nil) == noon)
        #expect(try place.directory.openChild(Array("gone".utf8)).status().mode == 0o700)
        #expect(try folder.status(of: Array("weather.gone".utf8))?.mode == 0o600)
        #expect(next.takeUnsynced() == nil)
    }

    @Test func `a token that was registered later is forgotten, and gone again when it is reported again`() throws {
        let tokens = try open()
        try tokens.remember(token(1), goneSince: noon)
        for time in [noon + .seconds(-1), noon] {
            #expect(try tokens.goneSince(token(1), registeredAt: time) == noon)
        }
        #expect(try tokens.goneSince(token(1), registeredAt: noon + .nanoseconds(1)) == nil)
        #expect(try tokens.goneSince(token(1), registeredAt: nil) == nil)
        try tokens.write()
        let next = try open()
        #expect(try next.count == 0 && next.goneSince(token(1), registeredAt: nil) == nil)
        try next.remember(token(1), goneSince: noon + .seconds(9))
        try next.write()
        #expect(try open().goneSince(token(1), registeredAt: nil) == noon + .seconds(9))
    }

    @Test func `the latest time counts`() throws {
        let tokens = try open()
        for seconds in [5, 9, 7] { try tokens.remember(token(1), goneSince: noon + .seconds(seconds)) }
        try tokens.write()
        #expect(try tokens.goneSince(token(1), registeredAt: nil) == noon + .seconds(9))
        #expect(try open().goneSince(token(1), registeredAt: nil) == noon + .seconds(9))
        #expect(tokens.count == 1)
    }

    @Test func `tokens of lengths that none has are not remembered`() throws {
        let tokens = try open()
        for length in [0, 101] { try tokens.remember([UInt8](repeating: 1, count: length)[...], goneSince: noon) }
        try tokens.remember([UInt8](repeating: 1, count: 100)[...], goneSince: noon)
        #expect(tokens.count == 1)
    }

    @Test func `an address of FCM's is found by kind and text, and case matters`() throws {
        let tokens = try open()
        let text = Array("dQw4w9WgXcQ-_AbCdEfGhI".utf8)
        let long = [UInt8](repeating: 0x61, count: 1024)
        try tokens.remember(Address(.installation, text[...]), goneSince: noon)
        try tokens.remember(Address(.registrationToken, long[...]), goneSince: noon)
        try tokens.write()
        for tokens in [tokens, try open()] {
            #expect(try tokens.goneSince(.installation, text[...], registeredAt: nil) == noon)
            #expect(try tokens.goneSince(.registrationToken, long[...], registeredAt: nil) == noon)
            #expect(try tokens.goneSince(.registrationToken, text[...], registeredAt: nil) == nil)
            let lower = Array("dqw4w9wgxcq-_abcdefghi".utf8)
            #expect(try tokens.goneSince(.installation, lower[...], registeredAt: nil) == nil)
        }
    }

    @Test func `apps do not know each other's`() throws {
        let tokens = try open()
        try tokens.remember(token(1), goneSince: noon)
        try tokens.write()
        let other = try GoneTokens(of: "weather.gone", in: place.directory)
        while try other.readOn() {}
        #expect(try other.goneSince(token(1), registeredAt: nil) == nil)
    }

    // MARK: Damage

    private func contents() throws -> [UInt8] {
        try #require(try folder.contents(of: Array("weather.gone".utf8), limit: 1 << 24))
    }

    private func replace(with bytes: [UInt8]) throws {
        let gone = try folder
        try gone.unlink(Array("weather.gone".utf8))
        try gone.put(Array("weather.gone".utf8), bytes)
    }

    @Test func `a log that is cut anywhere loses its end and nothing before, and goes on there`() throws {
        let tokens = try open()
        for number in 0..<3 { try tokens.remember(token(number), goneSince: noon) }
        try tokens.write()
        let whole = try contents()
        for length in 0..<whole.count {
            try replace(with: Array(whole[..<length]))
            let cut = try open()
            let expected = max(0, (length - GoneRecord.head.count) / 48)
            #expect(cut.count == expected, "cut after \(length)")
            try cut.remember(token(7), goneSince: noon)
            try cut.write()
            let next = try open()
            #expect(try next.count == expected + 1 && next.goneSince(token(7), registeredAt: nil) == noon, "\(length)")
        }
    }

    @Test func `what stood behind a damaged record never counts again`() throws {
        let tokens = try open()
        for number in 0..<3 { try tokens.remember(token(number), goneSince: noon) }
        try tokens.write()
        var bytes = try contents()
        bytes[GoneRecord.head.count + 20] ^= 1
        try replace(with: bytes)
        let damaged = try open()
        #expect(damaged.count == 0 && damaged.uselessByteCount == 3 * 48)
        try damaged.remember(token(7), goneSince: noon)
        try damaged.write()
        #expect(try open().goneSince(token(1), registeredAt: nil) == nil)
        #expect(try open().uselessByteCount == 2 * 48)
    }

    @Test func `a file of something else is no reason to fail`() throws {
        _ = try place.directory.makeChild(Array("gone".utf8), mode: 0o700)
        try folder.put("weather.gone", String(repeating: "no log at all. ", count: 50_000))
        let tokens = try open()
        #expect(tokens.count == 0 && (tokens.uselessByteCount ?? 0) > 700_000)
        try tokens.remember(token(1), goneSince: noon)
        try tokens.write()
        #expect(try open().count == 1)
    }

    @Test func `a log that is said to be longer than any disk takes no more memory than it has tokens`() throws {
        let tokens = try open()
        for number in 0..<3 { try tokens.remember(token(number), goneSince: noon) }
        try tokens.write()
        var length = Int.max
        while unsafe truncate(place.path + "/gone/weather.gone", length) != 0 { length /= 2 }
        #expect(length > 1 << 40)
        let next = try open()
        let end = GoneRecord.head.count + 3 * 48
        #expect(next.count == 3 && next.uselessByteCount == length - end)
        try next.remember(token(7), goneSince: noon)
        try next.write()
        #expect(try open().goneSince(token(7), registeredAt: nil) == noon)
    }

    #if FAILPOINTS
        @Test func `what cannot be written is forgotten, and what was written before is not`() throws {
            let tokens = try open()
            try tokens.remember(token(1), goneSince: noon)
            try tokens.write()
            let plan = FailPlan(under: place.path + "/gone", points: try #require(FailPoint.list("1+:enospc")))
            plan.install()
            try tokens.remember(token(2), goneSince: noon)
            #expect(throws: SystemError.self) { try tokens.write() }
            plan.remove()
            #expect(try tokens.goneSince(token(1), registeredAt: nil) == noon)
            #expect(try tokens.goneSince(token(2), registeredAt: nil) == nil)
            try tokens.remember(token(3), goneSince: noon)
            try tokens.write()
            #expect(try open().count == 2 && tokens.count == 2)
        }

        @Test func `that a token was registered is written as soon as that can be`() throws {
            let tokens = try open()
            for number in 1...3 { try tokens.remember(token(number), goneSince: noon) }
            try tokens.write()
            let plan = FailPlan(under: place.path + "/gone", points: try #require(FailPoint.list("1+:enospc")))
            plan.install()
            try tokens.remember(token(4), goneSince: noon)
            #expect(try tokens.goneSince(token(1), registeredAt: noon + .seconds(1)) == nil)
            for _ in 0..<3 { #expect(throws: SystemError.self) { try tokens.write() } }
            plan.remove()
            try tokens.remember(token(5), goneSince: noon)
            try tokens.write()
            for tokens in try [tokens, open()] {
                let found = try (1...5).map { try tokens.goneSince(token($0), registeredAt: nil) }
                #expect(found == [nil, noon, noon, nil, noon] && tokens.count == 3)
            }
        }

        @Test func `a log that cannot be written anew stays as it is`() throws {
            let tokens = try stale()
            let plan = FailPlan(under: place.path + "/gone", points: try #require(FailPoint.list("1+:enospc")))
            plan.install()
            #expect(throws: SystemError.self) { try rewrite(tokens) }
            plan.remove()
            #expect(!tokens.wantsRewriting)
            #expect(try tokens.goneSince(token(3), registeredAt: nil) != nil && open().count == tokens.count)
        }
    #endif

    // MARK: Writing it anew

    /// Ten tokens, each of which was gone again and again.
    private func stale() throws -> GoneTokens {
        let tokens = try open()
        for round in 0..<500 {
            for number in 0..<10 { try tokens.remember(token(number), goneSince: noon + .seconds(round)) }
        }
        try tokens.write()
        try #require(tokens.wantsRewriting == true)
        return tokens
    }

    private func rewrite(_ tokens: GoneTokens) throws {
        while tokens.wantsRewriting { try tokens.rewriteOn() }
    }

    @Test func `a log that mostly says nothing any more is written anew, and says the same`() throws {
        let tokens = try stale()
        let before = try contents().count
        try rewrite(tokens)
        #expect(try contents().count == GoneRecord.head.count + 10 * 48 && before > 200_000)
        for tokens in try [tokens, open()] {
            #expect(tokens.count == 10 && !tokens.wantsRewriting)
            for number in 0..<10 {
                #expect(try tokens.goneSince(token(number), registeredAt: nil) == noon + .seconds(499))
            }
        }
        #expect(try folder.sortedNames() == ["weather.gone"])
    }

    @Test func `what changes while the log is written anew counts`() throws {
        let tokens = try open()
        for number in 0..<20_000 { try tokens.remember(token(number), goneSince: noon) }
        for number in 5..<20_000 { _ = try tokens.goneSince(token(number), registeredAt: noon + .seconds(1)) }
        #expect(tokens.wantsRewriting)
        try tokens.rewriteOn()
        try tokens.remember(token(0), goneSince: noon + .seconds(5))
        #expect(try tokens.goneSince(token(1), registeredAt: noon + .seconds(5)) == nil)
        try tokens.remember(token(30_000), goneSince: noon)
        try rewrite(tokens)
        try tokens.write()
        for tokens in try [tokens, open()] {
            #expect(tokens.count == 5)
            let found = try [0, 1, 2, 30_000].map { try tokens.goneSince(token($0), registeredAt: nil) }
            #expect(found == [noon + .seconds(5), nil, noon, noon])
        }
    }

    @Test func `a crash while it is written anew leaves the log that was`() throws {
        let tokens = try stale()
        try folder.put(".weather.gone", "half")
        #expect(try open().count == tokens.count)
        #expect(try folder.sortedNames() == ["weather.gone"])
    }

    // MARK: Anything at all

    @Test func `after any run of events it says what a dictionary says`() throws {
        for seed in UInt64(0)..<UInt64(trials(10, full: 100)) {
            var random = SeededGenerator(seed: seed)
            // Each begins with no log: it is read as a whole whenever it is opened.
            if seed > 0 { try folder.unlink(Array("weather.gone".utf8)) }
            var (tokens, model) = (try open(), [ArraySlice<UInt8>: WallTime]())
            for _ in 0..<400 {
                let token = self.token(.random(in: 0..<40, using: &random))
                let time = noon + .seconds(.random(in: 0..<1000, using: &random))
                switch Int.random(in: 0...9, using: &random) {
                case 0...4:
                    try tokens.remember(token, goneSince: time)
                    model[token] = max(model[token] ?? time, time)
                case 5...7:
                    let found = try tokens.goneSince(token, registeredAt: time)
                    if let since = model[token], since < time { model[token] = nil }
                    #expect(found == model[token], "seed \(seed)")
                case 8: try tokens.write()
                default:
                    try tokens.write()
                    tokens = try open()
                }
            }
            #expect(tokens.count == model.count, "seed \(seed)")
        }
    }
}

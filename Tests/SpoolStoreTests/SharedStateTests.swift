import Foundation
import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

/// What the nodes of a cluster know of each other's jobs: refs, turns and gone tokens.
@Suite struct SharedStateTests {
    let place: TemporaryDirectory
    let one: Spool
    let two: Spool
    private let noon = WallTime(epochSeconds: 1_795_262_400)

    init() throws {
        place = try TemporaryDirectory()
        one = try Spool(path: place.path, node: "one", journalByteCount: 8 << 20, cluster: ClusterTerms())
        two = try Spool(path: place.path, node: "two", journalByteCount: 8 << 20, cluster: ClusterTerms())
    }

    // MARK: Refs

    private func book(_ spool: Spool) throws -> RefBook {
        let state = try #require(try spool.openState())
        let book = try RefBook(of: "weather", in: state, keeping: .seconds(86_400), at: noon)
        try book.follow(nodesOf: spool)
        while try book.readOn() {}
        return book
    }

    @Test func `a node knows the refs of another one, those of before and those of since`() throws {
        let first = try book(one)
        try first.keep([RefRecord("a", id: JobID(bits: 1), endedAt: noon)], at: noon)
        let second = try book(two)
        #expect(try second.job(sentWith: .ref("a"), before: JobID(bits: 9), at: noon)?.id == JobID(bits: 1))
        for number in 2..<50 {
            let time = noon + .seconds(number)
            try first.keep([RefRecord("ref \(number)", id: JobID(bits: UInt128(number)), endedAt: time)], at: time)
            try second.readNews()
            let found = try second.job(sentWith: .ref("ref \(number)"), before: JobID(bits: 99), at: time)
            #expect(found?.id == JobID(bits: UInt128(number)))
        }
        #expect(try second.job(sentWith: .ref("b"), before: JobID(bits: 9), at: noon) == nil)
    }

    @Test func `a node that joins later is followed from its first record on`() throws {
        let book = try book(one)
        let late = try Spool(path: place.path, node: "late", journalByteCount: 8 << 20, cluster: ClusterTerms())
        try self.book(late).keep([RefRecord("a", id: JobID(bits: 1), endedAt: noon)], at: noon)
        try book.readNews()
        #expect(try book.job(sentWith: .ref("a"), before: JobID(bits: 2), at: noon)?.id == JobID(bits: 1))
    }

    @Test func `records of another node's next day are read, too`() throws {
        let (first, second) = (try book(one), try book(two))
        for day in 0..<4 {
            let time = noon + .seconds(day * 86_400)
            try first.keep([RefRecord("day \(day)", id: JobID(bits: UInt128(day)), endedAt: time)], at: time)
            try second.readNews()
            #expect(try second.job(sentWith: .ref("day \(day)"), before: JobID(bits: 9), at: time) != nil)
        }
    }

    @Test func `the folder of a node that was removed for good stops nobody`() throws {
        let (first, second) = (try book(one), try book(two))
        try first.keep([RefRecord("a", id: JobID(bits: 1), endedAt: noon)], at: noon)
        try second.readNews()
        try FileManager.default.removeItem(atPath: place.path + "/.pushspool/one")
        try second.readNews()
        #expect(try second.job(sentWith: .ref("a"), before: JobID(bits: 9), at: noon) == nil)
        // A node that gets the name later is followed again.
        let again = try Spool(path: place.path, node: "one", journalByteCount: 8 << 20, cluster: ClusterTerms())
        try book(again).keep([RefRecord("b", id: JobID(bits: 2), endedAt: noon)], at: noon)
        try second.readNews()
        #expect(try second.job(sentWith: .ref("b"), before: JobID(bits: 9), at: noon)?.id == JobID(bits: 2))
    }

    // MARK: Turns

    @Test func `only one node has the turn of a sign, until it gives it back`() throws {
        let turns = try [one, two].map { try #require(try SharedTurns(of: "weather", in: $0)) }
        let other = try #require(try SharedTurns(of: "storm", in: two))
        #expect(try turns[0].acquire(.ref("a")) && !turns[1].acquire(.ref("a")))
        // Its own node may ask again: an answer of a file server can get lost.
        #expect(try turns[0].acquire(.ref("a")) && turns[1].acquire(.ref("b")) && other.acquire(.ref("a")))
        try turns[1].giveBack(.ref("a"))
        #expect(try !turns[1].acquire(.ref("a")))
        try turns[0].giveBack(.ref("a"))
        #expect(try turns[1].acquire(.ref("a")) && !turns[0].acquire(.ref("a")))
    }

    @Test func `turns that a node's earlier life left are given back, others' are not`() throws {
        let turns = try [one, two].map { try #require(try SharedTurns(of: "weather", in: $0)) }
        for ref in ["a", "b", "c"] { #expect(try turns[0].acquire(.ref(ref))) }
        #expect(try turns[1].acquire(.ref("d")))
        try turns[0].giveBack(allBut: [.ref("b")])
        #expect(try turns[1].acquire(.ref("a")) && !turns[1].acquire(.ref("b")) && turns[1].acquire(.ref("c")))
        #expect(try !turns[0].acquire(.ref("d")))
    }

    @Test func `a node of which nothing is left has no turns in any app`() throws {
        let turns = try ["weather", "storm"].map { try #require(try SharedTurns(of: $0, in: one)) }
        for turn in turns { #expect(try turn.acquire(.ref("a"))) }
        let others = try ["weather", "storm"].map { try #require(try SharedTurns(of: $0, in: two)) }
        #expect(try others[0].acquire(.ref("b")))
        try SharedTurns.giveBackAll(of: one)
        #expect(try others[0].acquire(.ref("a")) && others[1].acquire(.ref("a")) && !turns[0].acquire(.ref("b")))
    }

    @Test func `of many that take a turn at once, one gets it`() async throws {
        let path = place.path
        for round in 0..<20 {
            let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
                for (spool, count) in [(one, 2), (two, 2)] {
                    for _ in 0..<count {
                        group.addTask {
                            try #require(try SharedTurns(of: "weather", in: spool)).acquire(.ref("\(round)"))
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            // Both tasks of one node have it.
            #expect(winners == 2, "round \(round) in \(path)")
        }
    }

    // MARK: Gone tokens

    private func tokens(_ spool: Spool) throws -> GoneTokens {
        let tokens = try GoneTokens(of: "weather", in: try #require(try spool.openState()))
        while try tokens.readOn() {}
        return tokens
    }

    private func token(_ number: UInt8) -> ArraySlice<UInt8> { [UInt8](repeating: number, count: 32)[...] }

    private func exchange(_ tokens: GoneTokens, _ spool: Spool) throws {
        while try tokens.readNews(in: spool) {}
    }

    @Test func `a token that one node found gone is gone for the others, and so is its registration`() throws {
        let (first, second) = (try tokens(one), try tokens(two))
        try first.remember(token(1), goneSince: noon)
        try first.remember(token(2), goneSince: noon)
        try first.write()
        try exchange(second, two)
        #expect(try second.goneSince(token(1), registeredAt: nil) == noon)
        #expect(try second.goneSince(token(2), registeredAt: noon + .seconds(5)) == nil)
        try second.write()
        try exchange(first, one)
        #expect(try first.goneSince(token(2), registeredAt: nil) == nil)
        #expect(try first.goneSince(token(1), registeredAt: nil) == noon)
        // A later report counts again, and an exchange without news changes nothing.
        try first.remember(token(2), goneSince: noon + .seconds(9))
        try first.write()
        for _ in 0..<3 { try exchange(second, two) }
        #expect(try second.goneSince(token(2), registeredAt: nil) == noon + .seconds(9))
        #expect(try tokens(two).count <= 2)
    }

    @Test func `nodes that start again do not tell each other old news for ever`() throws {
        let (first, second) = (try tokens(one), try tokens(two))
        try first.remember(token(1), goneSince: noon)
        try first.write()
        try exchange(second, two)
        #expect(try second.goneSince(token(1), registeredAt: noon + .seconds(5)) == nil)
        try second.write()
        try exchange(first, one)
        try first.write()
        func byteCounts() throws -> [Int64] {
            try [one, two].map { spool in
                let folder = try #require(try spool.openState()).openChild(Array("gone".utf8))
                return try #require(try folder.status(of: Array("weather.gone".utf8))).byteCount
            }
        }
        // The first one starts again, and reads the other's log from its beginning.
        let again = try tokens(one)
        var seen: [[Int64]] = []
        for _ in 0..<6 {
            try exchange(again, one)
            try again.write()
            try exchange(second, two)
            try second.write()
            seen.append(try byteCounts())
        }
        #expect(seen.suffix(4).allSatisfy { $0 == seen[1] }, "\(seen)")
        #expect(try again.goneSince(token(1), registeredAt: nil) == nil)
    }

    @Test func `a log that its node has rewritten is read again`() throws {
        let (first, second) = (try tokens(one), try tokens(two))
        for round in 0..<6000 {
            try first.remember(token(UInt8(round % 4)), goneSince: noon + .seconds(round))
        }
        try first.write()
        try exchange(second, two)
        #expect(first.wantsRewriting)
        while first.wantsRewriting { try first.rewriteOn() }
        try first.remember(token(77), goneSince: noon)
        try first.write()
        try exchange(second, two)
        #expect(try second.goneSince(token(77), registeredAt: nil) == noon)
        #expect(try second.goneSince(token(3), registeredAt: nil) == noon + .seconds(5999))
    }
}

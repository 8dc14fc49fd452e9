import APNSBinary
import PushModel
import Testing

/// Replies that name what silence had proved accepted.
struct CorrectionTests {
    /// Ten notifications settled by silence, five more in doubt.
    private func lateRig(windowLimit: Int = 100) throws -> Rig {
        var rig = Rig(15, .init(windowLimit: windowLimit))
        for limit in [5, 5] {
            try rig.write(atMost: limit)
            rig.acknowledge()
            rig.pass(.seconds(5))
        }
        try rig.write()
        #expect(rig.accepted == Array(0..<10))
        return rig
    }

    @Test func `a late refusal corrects the named one`() throws {
        var rig = try lateRig()
        let resolution = try rig.reply(.invalidToken, naming: 7)
        let last = try #require(rig.settlements[Name(job: 1, index: 7)]?.last)
        #expect(last.isCorrection && last.outcome == .rejected(Status.invalidToken.refusal))
        #expect(resolution.revokedCount == 2 && resolution.lostCount == 0 && resolution.doubtfulCount == 0)
    }

    @Test func `a late refusal sends the later ones again, settled or not`() throws {
        var rig = try lateRig()
        try rig.reply(.invalidToken, naming: 7)
        #expect(try rig.write().map(\.index) == Array(8..<15))
        rig.acknowledge()
        rig.pass(.seconds(5))
        #expect(rig.accepted == Array(0..<15))
        #expect((0..<7).allSatisfy { rig.outcomes($0) == [.accepted] })
    }

    @Test func `a late shutdown corrects nothing but sends the later ones again`() throws {
        var rig = try lateRig()
        let resolution = try rig.reply(.shutdown, naming: 7)
        #expect(rig.outcomes(7) == [.accepted] && !resolution.isCorrection)
        #expect(try rig.write().map(\.index) == Array(8..<15))
    }

    @Test func `a revoked one that is refused in its second try is corrected too`() throws {
        var rig = try lateRig()
        try rig.reply(.invalidToken, naming: 7)
        try rig.write()
        try rig.reply(.invalidToken, naming: 9)
        try rig.write()
        try rig.reply(.invalidToken, naming: 12)
        #expect(rig.settlements[Name(job: 1, index: 9)]?.last?.isCorrection == true)
        #expect(rig.settlements[Name(job: 1, index: 12)]?.map(\.isCorrection) == [false])
    }

    @Test func `a settled one that fails three times is corrected when it is given up`() throws {
        var rig = try lateRig()
        for _ in 0..<3 {
            try rig.reply(.processingError, naming: 7)
            rig.liftHold()
            try rig.write()
        }
        let settlements = try #require(rig.settlements[Name(job: 1, index: 7)])
        #expect(settlements.map(\.isCorrection) == [false, true])
    }

    @Test func `a revoked one that ends in doubt is corrected to unknown`() throws {
        var rig = Rig()
        rig.queue.append(.named(0..<3, onDoubt: .report))
        try rig.write(atMost: 2)
        rig.acknowledge()
        rig.pass(.seconds(5))
        try rig.write()
        try rig.reply(.invalidToken, naming: 0)
        try rig.write()
        rig.end(.silent(handedOver: rig.offset))
        #expect(rig.settlements[Name(job: 1, index: 1)]?.map(\.isCorrection) == [false, true])
        #expect(rig.settlements[Name(job: 1, index: 2)]?.map(\.isCorrection) == [false])
    }

    @Test(arguments: [(Status.invalidToken, 3), (.shutdown, 2)])
    func `those that nobody remembers are counted as lost`(status: Status, lostCount: Int) throws {
        var rig = try lateRig(windowLimit: 5)
        let resolution = try rig.reply(status, naming: 2)
        #expect(resolution.lostCount == lostCount && resolution.revokedCount == 5 && resolution.named == nil)
        #expect(try rig.write().map(\.index) == Array(5..<10))
    }
}

import APNSBinary
import PushModel
import Testing

/// Identifiers count 1 to 2³²−1 and start again at 1; 0 is what a gateway says when it does not know.
struct IdentifierTests {
    private static let count: UInt64 = 0xFFFF_FFFF

    @Test func `the first identifier is one`() throws {
        var rig = Rig(3)
        try rig.write()
        #expect(rig.identifiers.values.sorted() == [1, 2, 3])
    }

    @Test(arguments: [count - 3, 2 * count - 3, 7 * count - 3])
    func `identifiers wrap past the last one and skip zero`(first: UInt64) throws {
        var rig = Rig(6, firstSequence: first)
        try rig.write()
        let identifiers = (0..<6).compactMap { rig.identifiers[Name(job: 1, index: $0)] }
        #expect(identifiers == [0xFFFF_FFFD, 0xFFFF_FFFE, 0xFFFF_FFFF, 1, 2, 3])
    }

    @Test(arguments: 0..<6)
    func `a name on either side of the wrap is found`(named: Int) throws {
        var rig = Rig(6, firstSequence: 3 * Self.count - 3)
        try rig.write()
        try rig.reply(.invalidToken, naming: named)
        #expect(rig.accepted == Array(0..<named))
        #expect(try rig.write().map(\.index) == Array(named + 1..<6))
    }

    @Test func `a name before the wrap corrects what was settled before it`() throws {
        var rig = Rig(6, firstSequence: Self.count - 3)
        try rig.write(atMost: 4)
        rig.acknowledge()
        rig.pass(.seconds(5))
        try rig.write()
        let resolution = try rig.reply(.invalidToken, naming: 1)
        #expect(resolution.revokedCount == 2 && resolution.tail.flatMap(\.indices) == [2, 3, 4, 5])
    }

    @Test func `an identifier that only an earlier connection issued is not known`() throws {
        var rig = Rig(6, firstSequence: Self.count - 3)
        try rig.write()
        let resolution = rig.end(.reply(ErrorReply(status: .invalidToken, identifier: 4)))
        #expect(resolution.hidesRefusal && resolution.named == nil)
    }

    @Test func `seventy thousand in doubt have names of their own`() throws {
        var rig = Rig(70_000, firstSequence: Self.count - 35_000)
        try rig.write()
        #expect(Set(rig.identifiers.values).count == 70_000)
        #expect(!rig.identifiers.values.contains(0))
        try rig.reply(.invalidToken, naming: 66_000)
        #expect(rig.outcomes(66_000) == [.rejected(Status.invalidToken.refusal)])
        #expect(rig.outcomes(65_999) == [.accepted] && rig.outcomes(66_001).isEmpty)
    }

    @Test func `command 0 carries no identifier, so a reply names nobody`() throws {
        var rig = Rig(20, .init(format: .simple))
        try rig.write()
        let resolution = rig.end(.reply(ErrorReply(status: .noError, identifier: 3)))
        #expect(resolution.hidesRefusal && resolution.doubtfulCount == 20 && rig.settlements.isEmpty)
    }
}

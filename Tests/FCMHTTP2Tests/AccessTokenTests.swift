import PushModel
import TestSupport
import Testing

@testable import FCMHTTP2

/// When a token is used, renewed and given up.
struct AccessTokenTests {
    private static let start: Int64 = 1_700_000_000

    private func token(seed: UInt64 = 1, lifetime: Int64 = 3600) throws -> AccessToken {
        var random = SeededGenerator(seed: seed)
        return try #require(AccessToken("ya29.c.x", fetchedAt: Self.start, lifetime: lifetime, using: &random))
    }

    private func at(_ seconds: Int64) -> WallTime { WallTime(epochSeconds: Self.start + seconds) }

    @Test(arguments: [(3600, 2700, 3300), (3599, 2699, 3299), (60, 45, 55), (1, 0, 0)])
    func `a token is renewed after 45 to 55 of 60 minutes`(lifetime: Int64, first: Int64, last: Int64) throws {
        let ages = try (0..<200).map { try token(seed: $0, lifetime: lifetime).renewsAt - Self.start }
        #expect(ages.allSatisfy { (first...last).contains($0) })
        #expect(Set(ages).count >= min(100, Int(last - first)))
    }

    @Test func `a token is current, then due, then expired`() throws {
        let token = try token()
        let due = token.renewsAt - Self.start
        let states = [0, due - 1, due, 3599, 3600].map { token.state(at: at($0)) }
        #expect(states == [.current, .current, .due, .due, .expired])
    }

    @Test func `a clock that is set back makes a token one of the future`() throws {
        #expect(try token().state(at: at(-60)) == .current)
        #expect(try token().state(at: at(-61)) == .fromFuture && !token().isFresh(at: at(-61)))
    }

    @Test func `a refusal within a minute blames the account, later it does not`() throws {
        #expect(try token().isFresh(at: at(59)) && !token().isFresh(at: at(60)))
    }

    @Test func `a refusal of a token that has expired blames nobody, however short its life was`() throws {
        #expect(try token(lifetime: 2).isFresh(at: at(1)) && !token(lifetime: 2).isFresh(at: at(2)))
    }

    @Test func `a stored token is used if more than five minutes are left`() throws {
        let brief = try token(lifetime: 310)
        #expect(brief.isWorthUsing(at: at(9)) && !brief.isWorthUsing(at: at(10)))
        #expect(try !token().isWorthUsing(at: at(3301)) && !token().isWorthUsing(at: at(-61)))
    }

    @Test(
        arguments: [
            ("", 3600), ("a b", 3600), ("a\r\nx: y", 3600), ("ä", 3600), (String(repeating: "a", count: 4097), 3600),
            ("a", 0), ("a", -1), ("a", .max), ("a", 86_401),
        ] as [(String, Int64)])
    func `what cannot be a token is none`(text: String, lifetime: Int64) {
        var random = SeededGenerator(seed: 1)
        #expect(AccessToken(text, fetchedAt: Self.start, lifetime: lifetime, using: &random) == nil)
    }

    @Test func `a token is never printed`() throws {
        let token = try token()
        var dumped = ""
        dump(token, to: &dumped)
        #expect(token.authorization == "Bearer ya29.c.x")
        #expect(!"\(token)\(dumped)".contains("ya29") && "\(token)".hasPrefix("access token until 2023-11-14T23:13:20"))
    }
}

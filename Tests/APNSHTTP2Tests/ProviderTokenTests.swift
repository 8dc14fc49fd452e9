import APNSHTTP2
import APNSModel
import JSON
import PushModel
import TestSupport
import Testing

struct ProviderTokenTests {
    private let identity: ProviderIdentity

    init() throws {
        identity = try #require(ProviderIdentity(keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
    }

    private func parse(_ text: String) -> SignedProviderToken? {
        var parser = JSON.Parser()
        return ProviderToken.parse(Array(text.utf8)[...], parser: &parser)
    }

    @Test func `the worked example comes out`() {
        let input = ProviderToken.signingInput(identity: identity, issuedAt: 1_437_179_036)
        #expect(
            String(decoding: input, as: UTF8.self)
                == "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ"
                + ".eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNDM3MTc5MDM2fQ")
        let token = ProviderToken(
            identity: identity, issuedAt: 1_437_179_036, signature: [UInt8](repeating: 0xFB, count: 64))
        #expect(input.count == 97 && token.text.utf8.count == 184 && token.authorization.utf8.count == 191)
        #expect(
            token.text.hasSuffix(
                ".-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-w"))
    }

    @Test func `a token reads back`() throws {
        let signature = (0..<64).map { UInt8($0) }
        let token = ProviderToken(identity: identity, issuedAt: 1_700_000_000, signature: signature)
        let parsed = try #require(parse(token.text))
        #expect(parsed.token == token && parsed.signature == signature)
        #expect(parsed.signingInput == ProviderToken.signingInput(identity: identity, issuedAt: 1_700_000_000))
    }

    @Test func `a token never prints itself`() {
        let token = ProviderToken(identity: identity, issuedAt: 1_700_000_000, signature: [1, 2, 3])
        var dumped = ""
        dump(token, to: &dumped)
        #expect("\(token)" == "provider token of key ABC123DEFG of team DEF123GHIJ, signed 2023-11-14T22:13:20.000Z")
        #expect(!dumped.contains("eyJ") && !String(reflecting: token).contains("eyJ"))
    }

    @Test(arguments: [
        ("ABC123DEFG", "DEF123GHIJ", true), ("abc123defg", "DEF123GHIJ", true), ("ABC123DEF", "DEF123GHIJ", false),
        ("ABC123DEFGH", "DEF123GHIJ", false), ("ABC123DEF\"", "DEF123GHIJ", false), ("ABC123DEFG", "", false),
        ("ÄBC123DEF", "DEF123GHIJ", false), ("ABC123DEFG", "DEF123GHI/", false),
    ])
    func `names of keys and teams have ten letters and digits`(keyID: String, teamID: String, isSound: Bool) {
        #expect((ProviderIdentity(keyID: keyID, teamID: teamID) != nil) == isSound)
    }

    /// Header and claims of `{"alg":"ES256","kid":"ABC123DEFG"}` and the like, made with another tool (coreutils'
    /// `base64`).
    @Test(arguments: [
        (
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNDM3MTc5MDM2fQ.AAAA",
            true
        ),
        // {"alg":"ES256","typ":"JWT","kid":"ABC123DEFG"}, {"iss":"DEF123GHIJ","iat":"1437179036","kid":"ABC123DEFG"}
        (
            "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IkFCQzEyM0RFRkcifQ"
                + ".eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoiMTQzNzE3OTAzNiIsImtpZCI6IkFCQzEyM0RFRkcifQ.AAAA", true
        ),
        // {"iss":"DEF123GHIJ","iat":1437179036.75}, the same as a string, "soon", 1e300
        (
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNDM3MTc5MDM2Ljc1fQ.AAAA",
            true
        ),
        (
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoiMTQzNzE3OTAzNi43NSJ9.AAAA",
            true
        ),
        ("eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0Ijoic29vbiJ9.AAAA", false),
        ("eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxZTMwMH0.AAAA", false),
        // {"alg":"none","kid":"ABC123DEFG"}
        ("eyJhbGciOiJub25lIiwia2lkIjoiQUJDMTIzREVGRyJ9.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNDM3MTc5MDM2fQ.AAAA", false),
        ("eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNDM3MTc5MDM2fQ.", false),
        ("eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNDM3MTc5MDM2fQ", false),
        ("eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ==.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxfQ.AAAA", false),
        ("..", false), ("", false), ("a.b.c.d", false),
    ])
    func `only tokens that a gateway would look at are read`(text: String, isSound: Bool) {
        #expect((parse(text) != nil) == isSound)
        #expect(!isSound || parse(text)?.token.issuedAt == 1_437_179_036)
    }

    @Test(arguments: [
        ("bearer x", "x"), ("Bearer x.y", "x.y"), ("basic x", nil), ("bearer", nil), ("bearer ", nil), ("", nil),
    ])
    func `the scheme is told from the token`(value: String, token: String?) {
        let found = ProviderToken.bearer(in: Array(value.utf8)[...])
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == token)
    }

    @Test(
        arguments: [
            (0, true), (3600, true), (3601, false), (-3600, true), (-3601, false), (.max, false), (.min, false),
        ] as [(Int64, Bool)])
    func `a token is good for an hour`(age: Int64, isGood: Bool) {
        let now = WallTime(epochSeconds: 1_700_000_000)
        let issuedAt = now.epochSeconds.subtractingReportingOverflow(age).partialValue
        #expect(
            ProviderToken(identity: identity, issuedAt: issuedAt, signature: []).fault(at: now)
                == (isGood ? nil : .expiredProviderToken))
    }

    @Test func `no bytes trap the reader`() {
        let good = ProviderToken(identity: identity, issuedAt: 1_700_000_000, signature: [1, 2, 3]).text
        for seed in UInt64(0)..<3_000 {
            var random = SeededGenerator(seed: seed)
            var text = Array(good.utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                text[.random(in: 0..<text.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            text.removeLast(.random(in: 0..<text.count, using: &random))
            var parser = JSON.Parser()
            let parsed = ProviderToken.parse(text[...], parser: &parser)
            #expect(parsed == nil || parsed?.token.text.isEmpty == false, "seed \(seed)")
        }
    }
}

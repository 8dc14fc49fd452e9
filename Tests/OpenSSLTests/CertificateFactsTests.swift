import Testing

@testable import OpenSSL

struct CertificateFactsTests {
    @Test func `a push certificate tells topic, topics and environments`() throws {
        let facts = try CertificateAuthority(commonName: "Issuer").issue(.push(topic: "com.example.weather")).facts
        #expect(facts.commonName == "Apple Push Services: com.example.weather")
        #expect(facts.userID == "com.example.weather" && facts.issuer == "Issuer")
        #expect(facts.isForSandbox && facts.isForProduction)
        #expect(facts.topics == ["com.example.weather", "com.example.weather.voip"])
        #expect(facts.allTopics == facts.topics && facts.fingerprint.count == 32)
    }

    @Test(arguments: [(true, false), (false, true), (false, false)])
    func `each environment has its own extension`(isForSandbox: Bool, isForProduction: Bool) throws {
        var plan = CertificatePlan.client("old style")
        (plan.userID, plan.isForSandbox, plan.isForProduction) = ("com.example.old", isForSandbox, isForProduction)
        let facts = try CertificateAuthority().issue(plan).facts
        #expect(facts.isForSandbox == isForSandbox && facts.isForProduction == isForProduction)
        #expect(facts.topics.isEmpty && facts.allTopics == ["com.example.old"])
    }

    @Test func `names and addresses of a server are listed`() throws {
        let facts = try CertificateAuthority().issue(.server(["a.test", "*.b.test", "192.0.2.7", "2001:db8::1"])).facts
        #expect(facts.alternativeNames == ["a.test", "*.b.test", "192.0.2.7", "2001:db8:0:0:0:0:0:1"])
    }

    @Test(arguments: [Int64(0)...1, 1_700_000_000...1_800_000_000, 2_524_608_000...253_402_300_799])
    func `times survive both encodings of ASN.1`(validity: ClosedRange<Int64>) throws {
        var plan = CertificatePlan.client("timed")
        plan.validity = validity
        let facts = try CertificateAuthority().issue(plan).facts
        #expect(facts.notBefore == validity.lowerBound && facts.notAfter == validity.upperBound)
        #expect(facts.isValid(at: validity.lowerBound) && facts.isValid(at: validity.upperBound))
        #expect(!facts.isValid(at: validity.upperBound + 1))
    }

    @Test func `a long topic is read over its long length`() throws {
        var plan = CertificatePlan.client("long")
        plan.topics = [String(repeating: "a", count: 130), String(repeating: "b", count: 300)]
        #expect(try CertificateAuthority().issue(plan).facts.topics == plan.topics)
    }

    @Test(
        arguments: [
            (["a", "a.voip"], ["a.voip", "b"], ["a", "a.voip", "b"]), ([], ["a.voip"], ["a.voip"]), (["a"], nil, ["a"]),
            ([], nil, []),
        ] as [([String], [String]?, [String])])
    func `both extensions tell topics`(topics: [String], further: [String]?, all: [String]) throws {
        var plan = CertificatePlan.client("both")
        (plan.topics, plan.furtherTopics) = (topics, further)
        #expect(try CertificateAuthority().issue(plan).facts.topics == all)
    }

    @Test func `a name beyond ASCII is kept`() throws {
        #expect(try CertificateAuthority().issue(.client("Wetter für Köln ☔️")).facts.commonName == "Wetter für Köln ☔️")
    }

    @Test(arguments: ["a,DNS:b", "", "a b", "a\0"])
    func `a host that is none is not certified`(host: String) throws {
        let authority = try CertificateAuthority()
        #expect(throws: TLSError.self) { try authority.issue(.server([host])) }
    }

    @Test func `a name that is too long is not certified`() {
        #expect(throws: TLSError.self) { try CertificateAuthority(commonName: String(repeating: "x", count: 65)) }
    }

    @Test func `no bytes trap the reader of topics`() {
        let good = CertificatePlan.push(topic: "com.example.weather").topicsExtension
        for seed in UInt64(0)..<2_000 {
            var random = Seeded(seed: seed)
            var bytes = seed % 2 == 0 ? good : random.bytes(Int.random(in: 0...40, using: &random))
            if !bytes.isEmpty { bytes[Int.random(in: 0..<bytes.count, using: &random)] = random.bytes(1)[0] }
            #expect(CertificateFacts.topics(inExtension: bytes).count <= bytes.count, "seed \(seed)")
        }
    }

    @Test(arguments: [
        ([UInt8](), []), ([0x30], []), ([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], []), ([0x30, 0x80, 0x00, 0x00], []),
        ([0x30, 0x03, 0x0C, 0x01, 0x61], ["a"]), ([0x30, 0x03, 0x0C, 0x02, 0x61], []),
        ([0x0C, 0x01, 0x61], ["a"]), ([0x05, 0x00], []),
        ([0x30, 0x05, 0x0C, 0x01, 0x61, 0x0C, 0x7F], ["a"]), ([0x30, 0x03, 0x0C, 0x01, 0xFF], []),
    ])
    func `malformed topics are left out`(bytes: [UInt8], topics: [String]) {
        #expect(CertificateFacts.topics(inExtension: bytes) == topics)
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01"), (-1, "1969-12-31"), (951_782_400, "2000-02-29"), (1_582_934_400, "2020-02-29"),
        (1_609_459_199, "2020-12-31"), (253_402_300_799, "9999-12-31"),
    ])
    func `seconds become a day`(seconds: Int64, day: String) {
        #expect(UTCDate(seconds).description == day)
    }
}

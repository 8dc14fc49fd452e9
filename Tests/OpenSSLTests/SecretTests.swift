import OpenSSL
import Testing

struct SecretTests {
    @Test func `a secret never prints itself`() {
        let secret = Secret("hunter2".utf8)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "<redacted>" && String(reflecting: secret) == "<redacted>")
        #expect(!dumped.contains("hunter2") && secret.byteCount == 7)
    }

    @Test(arguments: [("a\n", 1), ("a\r\n", 1), ("a\n\n", 2), ("a", 1), (" a \n", 3), ("", 0), ("\n", 0)])
    func `a passphrase file loses one line ending`(content: String, count: Int) {
        #expect(Secret(passphraseFile: Array(content.utf8)).byteCount == count)
    }

    @Test func `an array that is erased is empty, and another one that shared its bytes is as it was`() {
        var bytes = Array("hunter2".utf8)
        let shared = bytes
        Secret.erase(&bytes)
        #expect(bytes.isEmpty && shared == Array("hunter2".utf8))
    }

    @Test func `credentials tell their certificate and nothing of the key`() throws {
        var plan = CertificatePlan.client("app")
        plan.validity = 0...1_700_000_000
        let credentials = try CertificateAuthority().issue(plan).credentials
        #expect("\(credentials)" == "certificate \"app\", expires 2023-11-14")
    }
}

struct DigestTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `the sums of FIPS 180-4 come out`(text: String, sum: String) {
        #expect(hex(Digest.sha256(Array(text.utf8).span)) == sum)
    }

    @Test func `pieces sum up to the whole`() {
        var random = Seeded(seed: 4)
        let bytes = random.bytes(10_000)
        var digest = Digest()
        for start in stride(from: 0, to: bytes.count, by: 777) {
            digest.update(bytes[start..<min(start + 777, bytes.count)].span)
        }
        #expect(digest.finish() == Digest.sha256(bytes.span))
    }

    @Test func `random bytes do not repeat`() {
        #expect(RandomBytes.make(count: 0).isEmpty)
        #expect(RandomBytes.make(count: 16) != RandomBytes.make(count: 16))
        // More numbers than are drawn at a time.
        #expect(Set((0..<1_000).map { _ in RandomBytes.makeNumber() }).count == 1_000)
    }
}

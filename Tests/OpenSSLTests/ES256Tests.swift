import Foundation
import OpenSSL
import Testing

/// Signatures of provider tokens, with RFC 7515 and the command `openssl` as judges.
struct ES256Tests {
    private let key: ThrowawayTokenKey
    private let message = Array("eyJhbGciOiJFUzI1NiJ9.e30".utf8)

    init() throws {
        key = try ThrowawayTokenKey()
    }

    @Test func `a signature is R and S, and a new one each time`() throws {
        let signatures = try (0..<50).map { _ in try key.signer.sign(message.span) }
        #expect(signatures.allSatisfy { $0.count == 64 } && Set(signatures).count == 50)
    }

    @Test func `a key read from its file makes signatures of that key`() throws {
        let signer = try ES256Signer(p8: key.p8)
        let verifier = try ES256Verifier(publicKey: key.publicKeyPEM)
        #expect(verifier.accepts(try signer.sign(message.span), over: message))
        #expect(signer.fingerprint == key.signer.fingerprint && signer.fingerprint.count == 32)
        #expect(try key.signer.verifier().accepts(signer.sign(message.span), over: message))
    }

    @Test func `what was changed is not accepted`() throws {
        let verifier = try key.signer.verifier()
        let signature = try key.signer.sign(message.span)
        let another = Array("another".utf8)
        #expect(!verifier.accepts(signature, over: another))
        #expect(!verifier.accepts(try ThrowawayTokenKey().signer.sign(message.span), over: message))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!verifier.accepts(changed, over: message), "byte \(index)")
        }
    }

    @Test func `no bytes trap the verifier`() throws {
        let verifier = try key.signer.verifier()
        for seed in UInt64(0)..<500 {
            var random = Seeded(seed: seed)
            let count = seed % 5 == 0 ? 64 : Int.random(in: 0...80, using: &random)
            #expect(!verifier.accepts(random.bytes(count), over: message), "seed \(seed)")
        }
        #expect(!verifier.accepts([UInt8](repeating: 0, count: 64), over: message))
        #expect(!verifier.accepts([UInt8](repeating: 0xFF, count: 64), over: message))
    }

    @Test func `the signature of RFC 7515 appendix A 3 is accepted`() throws {
        let point = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU" + "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
        let (x, y) = (point.prefix(43), point.suffix(43))
        let info: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        let verifier = try ES256Verifier(publicKey: info + base64URL(x) + base64URL(y))
        let input =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
            + "Ijp0cnVlfQ"
        let signature = base64URL(
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        let signed = Array(input.utf8)
        #expect(signature.count == 64 && verifier.accepts(signature, over: signed))
    }

    @Test(.enabled(if: OpenSSLTool.exists, "needs the command `openssl`"))
    func `another program accepts our signatures`() throws {
        let der = try derForm(key.signer.sign(message.span))
        #expect(try OpenSSLTool.verifies(der, of: message, with: key.publicKeyPEM))
        #expect(try !OpenSSLTool.verifies(der, of: message + [0], with: key.publicKeyPEM))
    }

    @Test(.enabled(if: OpenSSLTool.exists, "needs the command `openssl`"))
    func `we accept the signatures of another program, in its own spelling`() throws {
        let p8 = try OpenSSLTool.makeKey(["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
        let signer = try ES256Signer(p8: p8)
        let der = try OpenSSLTool.sign(message, with: p8)
        #expect(try signer.verifier().accepts(der, over: message))
    }

    @Test func `a signer tells nothing of its key`() throws {
        var dumped = ""
        dump(key.signer, to: &dumped)
        #expect("\(key.signer)".wholeMatch(of: /P-256 key [0-9a-f]{8}…/) != nil)
        #expect(!dumped.contains("pointer") && !dumped.contains("key:"))
    }
}

extension ES256Verifier {
    /// The expectation macros take no spans.
    fileprivate func accepts(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        accepts(signature, of: message.span)
    }
}

/// The smallest DER form of R and S, written without the library under test.
private func derForm(_ raw: [UInt8]) -> [UInt8] {
    func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
    let content = integer(raw[..<32]) + integer(raw[32...])
    return [0x30, UInt8(content.count)] + content
}

private func base64URL(_ text: some StringProtocol) -> [UInt8] {
    var base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    while base64.count % 4 != 0 { base64 += "=" }
    return Data(base64Encoded: base64).map { [UInt8]($0) } ?? []
}

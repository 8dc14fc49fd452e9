import OpenSSL
import Testing

struct TransferTests {
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a megabyte arrives in odd pieces, both ways`(version: TLSVersion) throws {
        let pair = try Cast().connectedPair(versions: version...version)
        var random = Seeded(seed: 1)
        let sent = random.bytes(1_048_576)
        for (sender, receiver) in [(pair.client, pair.server), (pair.server, pair.client)] {
            try sender.encrypt(sent.span)
            var ciphertext: [UInt8] = []
            sender.takeCiphertext(into: &ciphertext)
            var (received, start): ([UInt8], Int) = ([], 0)
            while start < ciphertext.count {
                let piece = min(Int.random(in: 1...40_000, using: &random), ciphertext.count - start)
                receiver.receive(ciphertext[start..<start + piece].span)
                received += try receiver.decryptAll()
                start += piece
            }
            #expect(received == sent)
        }
    }

    @Test func `plaintext goes out in full records`() throws {
        let pair = try Cast().connectedPair(versions: .tls13 ... .tls13)
        try pair.client.encrypt([UInt8](repeating: 7, count: 40_000).span)
        var ciphertext: [UInt8] = []
        pair.client.takeCiphertext(into: &ciphertext)
        var (records, start): ([Int], Int) = ([], 0)
        while start + 5 <= ciphertext.count {
            records.append(Int(ciphertext[start + 3]) << 8 | Int(ciphertext[start + 4]))
            start += 5 + records[records.count - 1]
        }
        #expect(records == [16_384 + 17, 16_384 + 17, 40_000 - 2 * 16_384 + 17])
    }

    @Test func `many small writes arrive in order`() throws {
        let pair = try Cast().connectedPair()
        for number in UInt8(0)..<200 { try pair.client.encrypt([number, number].span) }
        pair.exchange()
        #expect(try pair.server.decryptAll() == (UInt8(0)..<200).flatMap { [$0, $0] })
    }

    @Test func `a limit leaves the rest for the next call`() throws {
        let pair = try Cast().connectedPair()
        try pair.client.encrypt([UInt8](repeating: 9, count: 20_000).span)
        pair.exchange()
        var plaintext: [UInt8] = [1]
        #expect(try pair.server.decrypt(into: &plaintext, limit: 17_000) == .bytes(17_000))
        #expect(try pair.server.decrypt(into: &plaintext, limit: 17_000) == .bytes(3_000))
        #expect(try pair.server.decrypt(into: &plaintext, limit: 17_000) == .wantsPeer)
        #expect(plaintext == [1] + [UInt8](repeating: 9, count: 20_000))
    }

    @Test func `ciphertext is handed over once, and after what waits`() throws {
        let pair = try Cast().connectedPair()
        try pair.client.encrypt([1, 2, 3].span)
        let waiting = pair.client.ciphertextByteCount
        var buffer: [UInt8] = [0xAA]
        pair.client.takeCiphertext(into: &buffer)
        #expect(buffer.count == waiting + 1 && buffer[0] == 0xAA && pair.client.ciphertextByteCount == 0)
        pair.client.takeCiphertext(into: &buffer)
        #expect(buffer.count == waiting + 1)
    }

    @Test func `nothing to send seals nothing`() throws {
        let pair = try Cast().connectedPair()
        try pair.client.encrypt([UInt8]().span)
        #expect(pair.client.ciphertextByteCount == 0)
    }

    @Test func `a goodbye is told from a cut`() throws {
        let pair = try Cast().connectedPair()
        try pair.client.encrypt([5].span)
        pair.client.close()
        pair.exchange()
        pair.server.receiveEnd()
        var plaintext: [UInt8] = []
        #expect(try pair.server.decrypt(into: &plaintext) == .bytes(1))
        #expect(try pair.server.decrypt(into: &plaintext) == .closed)
        #expect(try pair.server.decrypt(into: &plaintext) == .closed)
    }

    @Test func `after the peer's goodbye this side may still send`() throws {
        let pair = try Cast().connectedPair(versions: .tls13 ... .tls13)
        pair.client.close()
        pair.exchange()
        var plaintext: [UInt8] = []
        #expect(try pair.server.decrypt(into: &plaintext) == .closed)
        try pair.server.encrypt([6].span)
        pair.exchange()
        #expect(try pair.client.decryptAll() == [6])
    }

    @Test func `a cut yields what came before, then throws`() throws {
        let pair = try Cast().connectedPair()
        try pair.client.encrypt([1, 2, 3].span)
        pair.exchange()
        pair.server.receiveEnd()
        var plaintext: [UInt8] = []
        #expect(try pair.server.decrypt(into: &plaintext) == .bytes(3))
        let error = tlsError { _ = try pair.server.decrypt(into: &plaintext) }
        #expect(error?.category == .closedEarly)
        #expect(error?.message == "the client closed the connection without close_notify")
        #expect(tlsError { try pair.server.encrypt([1].span) } == error)
    }

    @Test func `a record cut in the middle is a cut`() throws {
        let pair = try Cast().connectedPair()
        try pair.client.encrypt([1, 2, 3].span)
        var ciphertext: [UInt8] = []
        pair.client.takeCiphertext(into: &ciphertext)
        ciphertext.removeLast()
        pair.server.receive(ciphertext.span)
        pair.server.receiveEnd()
        let error = tlsError { _ = try pair.server.decryptAll() }
        #expect(error?.category == .closedEarly)
    }

    @Test func `closing a connection that never was does nothing`() throws {
        let pair = try Cast().pair()
        pair.client.close()
        #expect(pair.client.ciphertextByteCount == 0)
    }
}

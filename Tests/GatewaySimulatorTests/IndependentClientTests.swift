import APNSBinary
import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Where Debian and most others have it.
private let program = "/usr/bin/openssl"

/// A client that shares no code with this project: OpenSSL's own.
@Suite(.timeLimit(.minutes(10)), .enabled(if: FileManager.default.isExecutableFile(atPath: program)))
struct IndependentClientTests {
    /// Has `openssl s_client` send bytes, and returns what it received until the gateway closed.
    private func exchange(_ bytes: [UInt8], with simulator: Simulator, in folder: String) throws -> [UInt8] {
        try simulator.certificates.write(into: folder)
        let client = Process()
        client.executableURL = URL(filePath: program)
        client.arguments = [
            "s_client", "-connect", "127.0.0.1:\(simulator.ports.gateway)", "-quiet", "-verify_return_error",
            "-CAfile", folder + "/ca.pem", "-cert", folder + "/client.pem", "-key", folder + "/client.pem",
        ]
        let (input, output) = (Pipe(), Pipe())
        (client.standardInput, client.standardOutput) = (input, output)
        client.standardError = FileHandle.nullDevice
        try client.run()
        try input.fileHandleForWriting.write(contentsOf: Data(bytes))
        let received = try output.fileHandleForReading.readToEnd() ?? Data()
        client.waitUntilExit()
        return Array(received)
    }

    @Test func `openssl's client hears the refusal of a vector`() async throws {
        let vector = try #require(try VectorTests.vectors().first { $0.name == "cmd1-payload-257" })
        let directory = try TemporaryDirectory()
        try await Simulator.running { simulator in
            let good = Sample.frames(1...3)
            let received = try exchange(good + vector.bytes, with: simulator, in: directory.path + "/tls")
            #expect(received == [8, 7, 0, 0, 0, 4])
            #expect(await Sample.accepted(simulator.ledger) == [1, 2, 3])
        }
    }
}

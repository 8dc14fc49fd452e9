import Foundation
import GatewaySimulator
import TestSupport

/// A program of the system's that the simulator is tested with.
struct Tool: CustomStringConvertible {
    let name: String
    /// The package of Debian's that it comes in.
    let package: String

    static let curl = Tool(name: "curl", package: "curl")
    static let openssl = Tool(name: "openssl", package: "openssl")
    static let nghttp = Tool(name: "nghttp", package: "nghttp2-client")
    static let h2load = Tool(name: "h2load", package: "nghttp2-client")

    private var path: String { "/usr/bin/" + name }
    var isThere: Bool { FileManager.default.isExecutableFile(atPath: path) }
    var description: String { "\(name) is not installed; it comes with \(package)" }

    /// Runs it to its end and returns what it wrote, faults included.
    ///
    /// Waits on a thread of its own: the few that tasks share are needed by the simulator.
    func run(_ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try runAndWait(arguments) }) }
        }
    }

    private func runAndWait(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}

/// A simulator's certificates in files, for programs that want them there.
struct CertificateFiles {
    private let directory: TemporaryDirectory
    var authority: String { directory.path + "/tls/ca.pem" }
    var client: String { directory.path + "/tls/client.pem" }
    var payload: String { directory.path + "/payload.json" }

    init(_ simulator: Simulator) throws {
        directory = try TemporaryDirectory()
        try simulator.certificates.write(into: directory.path + "/tls")
        try Data("{\"aps\":{\"alert\":\"Hello\"}}".utf8).write(to: URL(filePath: payload))
    }
}

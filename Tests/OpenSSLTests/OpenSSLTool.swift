import Foundation

/// The command `openssl`: makes and judges without the library's Swift.
enum OpenSSLTool {
    static let path = "/usr/bin/openssl"
    static var exists: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs `openssl pkcs12 -export` over PEM text.
    static func export(_ pem: [UInt8], _ options: [String]) throws -> [UInt8] {
        try run(["pkcs12", "-export"] + options, over: pem)
    }

    /// Makes a private key, PKCS#8 as PEM text.
    static func makeKey(_ options: [String]) throws -> [UInt8] {
        try inFolder { folder in
            try call(["genpkey", "-out", folder.appendingPathComponent("key.pem").path] + options)
            return try [UInt8](Data(contentsOf: folder.appendingPathComponent("key.pem")))
        }
    }

    /// Signs with SHA-256; DER.
    static func sign(_ message: [UInt8], with key: [UInt8]) throws -> [UInt8] {
        try inFolder { folder in
            let files = ["key.pem", "message", "signature"].map { folder.appendingPathComponent($0) }
            try Data(key).write(to: files[0])
            try Data(message).write(to: files[1])
            try call(["dgst", "-sha256", "-sign", files[0].path, "-out", files[2].path, files[1].path])
            return try [UInt8](Data(contentsOf: files[2]))
        }
    }

    /// Whether `openssl dgst -verify` says yes.
    static func verifies(_ signature: [UInt8], of message: [UInt8], with publicKey: [UInt8]) throws -> Bool {
        try inFolder { folder in
            let files = ["key.pem", "message", "signature"].map { folder.appendingPathComponent($0) }
            try Data(publicKey).write(to: files[0])
            try Data(message).write(to: files[1])
            try Data(signature).write(to: files[2])
            return try call(
                ["dgst", "-sha256", "-verify", files[0].path, "-signature", files[2].path, files[1].path]) == 0
        }
    }

    private static func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    @discardableResult
    private static func call(_ arguments: [String]) throws -> Int32 {
        let tool = Process()
        tool.executableURL = URL(fileURLWithPath: path)
        tool.arguments = arguments
        tool.standardError = FileHandle.nullDevice
        tool.standardOutput = FileHandle.nullDevice
        try tool.run()
        tool.waitUntilExit()
        return tool.terminationStatus
    }

    /// Runs the tool from one file to another.
    static func run(_ arguments: [String], over pem: [UInt8]) throws -> [UInt8] {
        try inFolder { folder in
            let (input, output) = (folder.appendingPathComponent("in.pem"), folder.appendingPathComponent("out.p12"))
            try Data(pem).write(to: input)
            try call(arguments + ["-in", input.path, "-out", output.path])
            return try [UInt8](Data(contentsOf: output))
        }
    }
}

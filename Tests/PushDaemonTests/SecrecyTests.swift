import Foundation
import Glibc
import LinuxIO
import Testing

/// What there is of the daemon's secrets in memory, and who may look there.
@Suite struct SecrecyTests {
    @Test(.enabled(if: geteuid() == 0, "only root can run it in another group"))
    func `no core is dumped, and the process is root's`() async throws {
        try await Bench.running(try .init()) { bench in
            // In a group of its own, because the owner of what is in /proc is what tells.
            let daemon = try bench.start(with: "", under: "setpriv --regid 65534 --clear-groups")
            try await bench.watching(daemon) { daemon in
                try await daemon.says("app started")
                let process = "/proc/\(daemon.process.processIdentifier)"
                let limits = try String(contentsOfFile: process + "/limits", encoding: .utf8)
                #expect(limits.contains(#/Max core file size +0 +0 /#), "\(limits)")
                let environment = try Directory.open(path: process).status(of: Array("environ".utf8))
                #expect(environment?.group == 0)
                // Watching goes by way of /proc, too.
                try bench.drop("a.json", job(1))
                #expect(try await bench.end(of: "a.json").state == "done")
                #expect(!daemon.log.contains("cannot be watched"), "\(daemon.log)")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can read another process's memory"))
    func `the text of a key is not in memory once the key is read`() async throws {
        let modern = try Modern()
        // A piece of the second line of base64, which is all secret.
        let piece = Data(modern.privateKey.dropFirst(100).prefix(32))
        try await modern.serving { bench, daemon in
            try bench.drop("a.json", job(1), app: "modern")
            #expect(try await bench.end(of: "a.json", app: "modern").state == "done")
            let memory = try Memory(of: daemon.process.processIdentifier)
            // The name of the key's file is there as long as the app is.
            #expect(memory.contains(Data("\(bench.path)/etc/key.p8".utf8)))
            #expect(piece.count == 32 && !memory.contains(piece))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can read another process's memory"))
    func `a passphrase is not in memory once the key is read`() async throws {
        let passphrase = "correct-horse-\(UUID().uuidString)"
        try await Bench.running(try .init()) { bench in
            let (pem, container) = ("\(bench.path)/certificates/client.pem", "\(bench.path)/etc/client.p12")
            let file = "\(bench.path)/etc/passphrase"
            try bench.write("etc/passphrase", passphrase + "\n")
            try await bench.tool(
                "openssl", "pkcs12", "-export", "-in", pem, "-out", container, "-passout", "file:\(file)")
            try await bench.tool("chmod", "600", container, file)
            let files = "pkcs12: \(container), passphrase_file: \(file)"
            try bench.configureApp("weather", credentials: "credentials: {\(files)}")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let memory = try Memory(of: daemon.process.processIdentifier)
                #expect(memory.contains(Data(container.utf8)))
                #expect(!memory.contains(Data(passphrase.utf8)))
                #expect(try await daemon.stop() == 0)
            }
        }
    }
}

/// What a process may write to: heap, stacks and data. It should stand still, or pieces may be missed.
private struct Memory {
    private let areas: [Data]

    init(of process: Int32) throws {
        let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/mem"))
        let map = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        areas = map.split(separator: "\n").compactMap { line -> Data? in
            guard let range = line.wholeMatch(of: #/([0-9a-f]+)-([0-9a-f]+) rw.*/#)?.output,
                let start = UInt64(range.1, radix: 16), let end = UInt64(range.2, radix: 16)
            else { return nil }
            // What has gone meanwhile, and what the kernel keeps there, cannot be read.
            try? memory.seek(toOffset: start)
            return try? memory.read(upToCount: Int(end - start))
        }
    }

    func contains(_ piece: Data) -> Bool {
        areas.contains { $0.range(of: piece) != nil }
    }
}

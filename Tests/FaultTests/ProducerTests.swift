import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// Producers that write as no producer should.
@Suite struct ProducerTests {
    /// Scanners and editors open a file again after they closed it.
    @Test func `a writer that closes and opens again is waited for`() async throws {
        try await Bench.running(.init(patience: "1m", intake: ", require_end: never")) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let drop = Drop(number: 1, count: 40)
                bench.drops.append(drop)
                let text = Array(drop.text.utf8)
                for part in stride(from: 0, to: text.count, by: text.count / 4 + 1) {
                    try bench.append(Array(text[part..<min(part + text.count / 4 + 1, text.count)]), to: drop.name)
                    // Longer than it takes to settle.
                    try await moment(.milliseconds(120))
                }
                try await eventually("done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("F47 reopen-writer", allowance: 0)
            #expect(verdict.isGood && bench.archived("weather").allSatisfy { $0.hasPrefix("done/") }, "\(verdict)")
        }
    }

    /// A mapped file changes without an event, and a lease is refused while it is mapped for writing.
    @Test func `a file that is written through a mapping is waited for`() async throws {
        try await Bench.running { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let drop = Drop(number: 1, count: 10)
                bench.drops.append(drop)
                try await bench.writeThroughMapping(Array(drop.text.utf8), to: drop.name)
                try await eventually("done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("F48 mmap-writer", allowance: 0)
            #expect(verdict.isGood && bench.archived("weather").allSatisfy { $0.hasPrefix("done/") }, "\(verdict)")
        }
    }

    /// Nothing tells of a write through another name of the file.
    @Test func `what is written through another link before the claim is waited for, and after it is not sent`()
        async throws
    {
        try await Bench.running(.init(window: 5, latency: .milliseconds(300))) { bench in
            let (outside, inside) = ("\(bench.seenGround)/staged/outside", "\(bench.spool)/weather/new/j1.json")
            let drop = Drop(number: 1, count: 40)
            bench.drops.append(drop)
            try Data(drop.text.utf8).write(to: URL(fileURLWithPath: outside))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try FileManager.default.linkItem(atPath: outside, toPath: inside)
                try await bench.arrived(5)
                // Same length, another recipient list: were it read now, a stranger would get it.
                let other = drop.text.replacingOccurrences(of: "abab", with: "cdcd")
                let file = try FileHandle(forWritingTo: URL(fileURLWithPath: outside))
                try file.write(contentsOf: Data(other.utf8))
                try file.close()
                try await eventually("done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let tokens = try await bench.entries().map(\.tokenText)
            report("F49 hardlink-writer: \(tokens.count) sent of \(drop.count); seed \(seed), \(bench.age) s")
            #expect(
                tokens.count == drop.count && tokens.allSatisfy { $0.hasPrefix("abab") }
                    && Set(tokens).count == tokens.count)
        }
    }

    @Test func `the time of a file says nothing`() async throws {
        let stamps = ["@0", "@-86400", "2100-01-01", "1970-01-02"]
        try await Bench.running { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                for number in 0..<12 {
                    let drop = Drop(number: number, count: 2)
                    let staged = "\(bench.seenGround)/staged/\(drop.name)"
                    try Data(drop.text.utf8).write(to: URL(fileURLWithPath: staged))
                    try await tool(["touch", "-d", stamps[number % 4], staged], logs: bench.home + "/logs")
                    bench.drops.append(drop)
                    try FileManager.default.moveItem(
                        atPath: staged, toPath: "\(bench.spool)/weather/new/\(drop.name)")
                }
                try await eventually("done") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("F53 stamps \(stamps)", allowance: 0)
            #expect(verdict.isGood && bench.archived("weather").allSatisfy { $0.hasPrefix("done/") }, "\(verdict)")
        }
    }
}

extension Bench {
    /// Writes a file in `new/` through shared memory, with pauses.
    fileprivate func writeThroughMapping(_ bytes: [UInt8], to name: String) async throws {
        let file = unsafe open("\(spool)/weather/new/\(name)", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        try #require(file >= 0 && ftruncate(file, off_t(bytes.count)) == 0)
        let area = unsafe mmap(nil, bytes.count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        close(file)
        for start in stride(from: 0, to: bytes.count, by: 256) {
            for index in start..<min(start + 256, bytes.count) {
                unsafe area?.storeBytes(of: bytes[index], toByteOffset: index, as: UInt8.self)
            }
            try await moment(.milliseconds(90))
        }
        unsafe munmap(area, bytes.count)
    }

    /// Appends to a file in `new/`, opened for it alone.
    fileprivate func append(_ bytes: [UInt8], to name: String) throws {
        let path = "\(spool)/weather/new/\(name)"
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }
}

import Foundation
import LinuxIO
import TestSupport
import Testing

/// The control socket among clients that say nothing.
@Suite struct ControlConnectionTests {
    @Test func `connections without a request keep no command out`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let idle = try (0..<300).map { _ in try LocalConnection("node-a.sock", in: bench.path + "/run") }
            for _ in 0..<3 {
                let pause = try await bench.operate("pause", "weather")
                #expect(pause.code == 0, "\(pause)")
                let resume = try await bench.operate("resume", "weather")
                #expect(resume.code == 0, "\(resume)")
            }
            // Those that had waited longest had to go.
            #expect(try idle[0].read(within: .seconds(60)).isEmpty)
        }
    }

    @Test func `a connection that sends its request a byte at a time is idle, too`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let slow = try (0..<40).map { _ in try LocalConnection("node-a.sock", in: bench.path + "/run") }
            for connection in slow.suffix(16) { try connection.write(Array("{".utf8)) }
            let pause = try await bench.operate("pause", "weather")
            #expect(pause.code == 0, "\(pause)")
        }
    }
}

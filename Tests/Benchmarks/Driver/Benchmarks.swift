import Glibc
import LinuxIO

/// Measures one part of pushspool and prints one JSON object.
@main
enum Benchmarks {
    private static let usage = "usage: Benchmarks binary HOST PORT CERT KEY CA FRAMES"

    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 8, words[1] == "binary", let peer = HostPort("\(words[2]):\(words[3])"),
            let frameCount = Int(words[7])
        else { fail(usage) }
        do {
            let context = try BinaryRun.context(certificate: words[4], key: words[5], authority: words[6])
            let reactor = try Reactor(name: "reactor")
            let result = try await BinaryRun(to: peer, context, frameCount: frameCount, on: reactor).measure()
            say(result.json, on: .output)
            reactor.stop()
        } catch {
            fail("error: \(error)")
        }
    }

    private static func fail(_ message: String) -> Never {
        say(message, on: .error)
        exit(1)
    }

    private static func say(_ line: String, on stream: StandardStream) {
        stream.write(Array((line + "\n").utf8))
    }
}

import GatewaySimulator
import TestSupport
import Testing

/// An app called modern that speaks HTTP/2, with a provider token, and a gateway that knows its key.
struct Modern {
    let setup: Bench.Setup
    let privateKey: [UInt8]

    init(
        _ script: String = "", manner: HTTP2Manner = HTTP2Manner(), change: (inout RequestRules) -> Void = { _ in }
    ) throws {
        var setup = try Bench.Setup(script: script)
        setup.hasApp = false
        let (key, privateKey) = try RegisteredKey.throwaway()
        setup.gateway.http2Manner = manner
        setup.gateway.requestRules.keys = [key]
        change(&setup.gateway.requestRules)
        (self.setup, self.privateKey) = (setup, privateKey)
    }

    /// Runs a gateway beside an empty spool, with the key in its place and no app, while `body` runs.
    func running(_ body: @Sendable (Bench) async throws -> Void) async throws {
        try await Bench.running(setup) { bench in
            try bench.keepKey(privateKey)
            try await body(bench)
        }
    }

    /// The same with a daemon that runs, and ends well, and the app. `more` are further lines of its file.
    func serving(_ more: String = "", _ body: @Sendable (Bench, Program) async throws -> Void) async throws {
        try await running { bench in
            try bench.configureModern(more)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await body(bench, daemon)
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
                #expect(await bench.simulator.ledger.violations.isEmpty)
            }
        }
    }
}

extension Bench {
    /// Writes the key that apps sign provider tokens with.
    func keepKey(_ key: [UInt8]) throws { try TokenApp.keep(key, in: path) }

    /// Runs a daemon until it has published its list of apps.
    func publishApps() async throws {
        try await withDaemon { daemon in
            try await daemon.says("app started")
            try await eventually("the list") { names(in: ".pushspool/public/node-a").contains("apps.json") }
            #expect(try await daemon.stop() == 0)
        }
    }

    /// Writes the file of an app that speaks HTTP/2. `more` are further lines.
    func configureModern(_ more: String = "", as name: String = "modern") throws {
        try write(
            "etc/apps/\(name).yaml", TokenApp.file(home: path, port: simulator.ports.http2) + more + "\n")
    }
}

/// The bytes of the token with this number.
func bytes(of number: Int) -> [UInt8] {
    let digits = Array(token(number))
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
}

/// A job for one token whose alert is `text`, as JSON.
func job(_ number: Int, saying text: String, _ more: String = "") -> String {
    #"{"token":"\#(token(number))","alert":"\#(text)"\#(more)}"#
}

/// A job for so many tokens, as JSON.
func job(tokens numbers: Range<Int>, saying text: String = "x") -> String {
    #"{"tokens":[\#(numbers.map { "\"\(token($0))\"" }.joined(separator: ","))],"alert":"\#(text)"}"#
}

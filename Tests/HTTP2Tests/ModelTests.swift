import HTTP2
import TestSupport
import Testing

/// Random runs against a server that checks all rules, whatever it does to its own limits meanwhile.
struct ModelTests {
    private static func run(seed: UInt64) throws -> ModelRun {
        var run = ModelRun(seed: seed)
        try run.run(steps: 120)
        return run
    }

    @Test func `no rule of the server's is ever broken`() throws {
        for seed in UInt64(1)...60 {
            let run = try Self.run(seed: seed)
            try #require(run.server.problems.isEmpty, "seed \(seed): \(run.server.problems.prefix(3))")
        }
    }

    @Test func `every request ends once, as the server said`() throws {
        var count = 0
        for seed in UInt64(1_000)...1_060 {
            let run = try Self.run(seed: seed)
            try #require(run.problems.isEmpty && run.openStreamCount == 0, "seed \(seed): \(run.problems.prefix(3))")
            for (stream, outcome) in run.outcomes {
                let said = run.server.answers[stream]
                try #require(outcome == said, "seed \(seed), stream \(stream)")
            }
            count += run.outcomes.count
        }
        #expect(count > 1_500)
    }

    @Test func `every body arrives whole, under the number in its hole`() throws {
        var count = 0
        for seed in UInt64(2_000)...2_060 {
            let run = try Self.run(seed: seed)
            for (stream, request) in run.server.requests {
                try #require(request.body == run.bodies[stream], "seed \(seed), stream \(stream)")
                let digits = stream.bytes.map { $0 & 127 }
                try #require(Array(request.path.utf8) == Array("/".utf8) + digits, "seed \(seed), stream \(stream)")
            }
            count += run.server.requests.count
        }
        #expect(count > 1_500)
    }
}

import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Several daemons on one folder: deaths, freezes and takeovers. Tests/Cluster does the same on shared filesystems.
@Suite(.serialized) struct ClusterTests {
    @Test func `two daemons share the jobs, and each is sent once`() async throws {
        try await Bench.running(Bench.cluster(latency: .zero)) { bench in
            try await bench.withNodes("a", "b") { nodes in
                for number in 0..<400 { try bench.drop(Drop(number: number, count: 2)) }
                try await bench.allDone()
                let (lost, doubled) = try await bench.losses()
                #expect(lost == 0 && doubled == 0)
                for (name, node) in nodes {
                    #expect(node.log.components(separatedBy: "job done").count > 40, "\(name) did too little")
                }
            }
        }
    }

    @Test func `the jobs of a daemon that was killed are finished by the other, under its name`() async throws {
        try await Bench.running(Bench.cluster()) { bench in
            try await bench.withNodes("a", "b") { nodes in
                for number in 0..<12 { try bench.drop(Drop(number: number, count: 150)) }
                try await bench.arrived(300)
                try await nodes["a"]?.destroy()
                try await nodes["b"]?.says("standing in for a node that died")
                try await bench.allDone()
                let (lost, doubled) = try await bench.losses()
                #expect(lost == 0 && doubled <= bench.allowance)
                report("E2 cluster, kill -9: doubled \(doubled) of \(bench.allowance) allowed")
                try await nodes["b"]?.says("no longer standing in")
                // Its feedback has its name, whoever wrote it.
                let ids = Set(try bench.lines("weather").filter { $0.kind == "job" }.map(\.job))
                #expect(ids.count == 12)
            }
        }
    }

    @Test func `a node that returns gets its journal back, and sends nothing again`() async throws {
        try await Bench.running(Bench.cluster()) { bench in
            try await bench.withNodes("a", "b") { nodes in
                for number in 0..<8 { try bench.drop(Drop(number: number, count: 200)) }
                try await bench.arrived(200)
                try await nodes["a"]?.destroy()
                try await nodes["b"]?.says("standing in for a node that died")
                let returned = try bench.start(node: "a")
                try await returned.says("app started")
                try await bench.allDone()
                let (lost, doubled) = try await bench.losses()
                #expect(lost == 0 && doubled <= bench.allowance)
                let count = try await bench.entries().count
                try await returned.stop()
                let again = try bench.start(node: "a")
                try await again.says("app started")
                try await moment(.seconds(2))
                #expect(try await bench.entries().count == count)
                try await again.destroy()
            }
        }
    }

    @Test func `a daemon that is frozen keeps its jobs, and asks for its lease before it goes on`() async throws {
        try await Bench.running(Bench.cluster()) { bench in
            try await bench.withNodes("a", "b") { nodes in
                for number in 0..<12 { try bench.drop(Drop(number: number, count: 150)) }
                try await bench.arrived(200)
                for node in nodes.values {
                    node.send(SIGSTOP)
                    try await eventually("frozen") { node.isStopped }
                    try await moment(.seconds(3))
                    node.send(SIGCONT)
                    try await moment(.milliseconds(500))
                }
                try await bench.allDone()
                let (lost, doubled) = try await bench.losses()
                #expect(lost == 0 && doubled == 0)
                #expect(nodes.values.allSatisfy { !$0.log.contains("standing in") })
            }
        }
    }

    @Test func `when the node that took over is killed, a third one goes on`() async throws {
        try await Bench.running(Bench.cluster()) { bench in
            try await bench.withNodes("a") { nodes in
                for number in 0..<12 { try bench.drop(Drop(number: number, count: 200)) }
                try await bench.arrived(200)
                let taker = try bench.start(node: "b")
                try await taker.says("app started")
                try await nodes["a"]?.destroy()
                try await taker.says("standing in for a node that died")
                let before = try await bench.entries().count
                try await bench.arrived(before + 100)
                let third = try bench.start(node: "c")
                try await third.says("app started")
                try await taker.destroy()
                try await third.says("standing in for a node that died")
                try await bench.allDone()
                let (lost, doubled) = try await bench.losses()
                // The taker dies with the windows of two nodes.
                #expect(lost == 0 && doubled <= 3 * bench.allowance)
                report("E9 cluster, taker killed: doubled \(doubled) of \(3 * bench.allowance) allowed")
                try await third.destroy()
            }
        }
    }

    @Test func `of jobs with the same id that two daemons see at once, one is sent`() async throws {
        try await Bench.running(Bench.cluster(latency: .zero)) { bench in
            try await bench.withNodes("a", "b") { _ in
                for number in 0..<100 {
                    for copy in 0..<2 {
                        try bench.drop(Drop(number: 2 * number + copy, count: 1, more: #","id":"ref-\#(number)""#))
                    }
                }
                try await eventually("all ended") {
                    bench.archived("weather").count { !$0.hasSuffix(".result.json") } == 200
                }
                #expect(try await bench.entries().count == 100)
                let failed = bench.archived("weather").filter {
                    $0.hasPrefix("failed/") && $0.hasSuffix(".result.json")
                }
                #expect(failed.count == 100)
                #expect(bench.names(in: ".pushspool/.common/turns/weather").isEmpty)
            }
        }
    }

    @Test func `two daemons send with one provider token`() async throws {
        let (key, privateKey) = try RegisteredKey.throwaway()
        var setup = Bench.cluster(latency: .zero)
        setup.keys = [key]
        try await Bench.running(setup) { bench in
            try bench.signRequests(with: privateKey)
            try await bench.withNodes("a", "b") { nodes in
                for number in 0..<200 { try bench.drop(Drop(number: number, count: 1)) }
                try await bench.allDone()
                let (lost, doubled) = try await bench.losses()
                #expect(lost == 0 && doubled == 0)
                for (name, node) in nodes {
                    #expect(node.log.components(separatedBy: "job done").count > 20, "\(name) did too little")
                }
                // A signature with ES256 is never the same twice, so two tokens of one second differ too.
                let fields = try await bench.entries().compactMap(\.request).flatMap(\.fields)
                let tokens = fields.filter { $0.name == "authorization" }.map(\.value)
                #expect(tokens.count == 200 && Set(tokens).count == 1)
            }
        }
    }

    @Test func `a node that hands over leaves its jobs to the other, and doubles none`() async throws {
        try await Bench.running(Bench.cluster()) { bench in
            try await bench.withNodes("a", "b") { nodes in
                for number in 0..<12 { try bench.drop(Drop(number: number, count: 200)) }
                try await bench.arrived(200)
                let stop = [try BuiltProgram.path, "stop", "--config", bench.home + "/etc/a.yaml", "--handover"]
                try await tool(stop, logs: bench.home + "/logs")
                #expect(try await nodes["a"]?.end() == 0)
                try await bench.allDone()
                let (lost, doubled) = try await bench.losses()
                #expect(lost == 0 && doubled == 0)
                #expect(nodes["b"]?.log.contains("standing in for a node that died") == true)
            }
        }
    }

    @Test func `a job is held and released through a node that does not have it`() async throws {
        try await Bench.running(Bench.cluster()) { bench in
            try await bench.withNodes("a", "b") { _ in
                try bench.drop(Drop(number: 1, count: 3000))
                try await bench.arrived(100)
                let owner = bench.names(in: "weather/work/a").isEmpty ? "b" : "a"
                let other = owner == "a" ? "b" : "a"
                for (node, verb) in [(other, "hold"), (other, "release")] {
                    let command = [
                        try BuiltProgram.path, verb, "--config", "\(bench.home)/etc/\(node).yaml", "weather/j1.json",
                    ]
                    try await tool(command, logs: bench.home + "/logs")
                    if verb == "hold" { #expect(bench.names(in: "weather/hold").contains("j1.json")) }
                }
                try await bench.allDone()
                let (lost, doubled) = try await bench.losses()
                #expect(lost == 0 && doubled == 0)
            }
        }
    }
}

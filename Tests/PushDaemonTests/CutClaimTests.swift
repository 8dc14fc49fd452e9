import Foundation
import GatewaySimulator
import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolStore
import Synchronization
import TestSupport
import Testing

/// A claim that a node of a cluster has announced before it dies, while the daemon has claimed the same file.
@Suite struct CutClaimTests {
    private let text = #"{"tokens":["\#(token(1))","\#(token(2))"],"alert":"Hi"}"#
    private let name = "left.json"
    private let id = JobID(bits: 77)

    /// Drops the file, and announces its claim as a node that has not died yet.
    private func announce(at time: WallTime, on bench: Bench) throws -> Spool {
        let (path, terms) = (bench.path + "/spool", ClusterTerms())
        let spool = try Spool(path: path, node: "gone", journalByteCount: 8 << 20, cluster: terms)
        let name = try #require(FileName(name))
        let app = try spool.app("weather")
        try bench.drop(self.name, text)
        let status = try #require(try app.new.status(of: name.bytes))
        var facts = JournalHeader.Facts(id: id, app: "weather", name: name)
        (facts.byteCount, facts.recipientCount, facts.inode) = (status.byteCount, 2, status.inode)
        (facts.droppedAt, facts.claimedAt) = (time, time)
        try spool.journal.append(.header(JournalHeader(facts, content: .bytes(Array(text.utf8)))))
        try spool.journal.write()
        return spool
    }

    /// Lets the daemon end the job, lets the same file appear in the `work/` of the other node, and lets that node die.
    ///
    /// - Returns: How many notifications have arrived, and how many jobs are in `done/`, when nothing is left to do.
    private func ends(announcedAt time: WallTime, says message: String) async throws -> [Int] {
        let ends = Mutex<[Int]>([])
        try await Bench.running(try .init()) { bench in
            let usual = try String(contentsOfFile: "\(bench.path)/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", usual + "cluster: {lease: 1s}\n")
            var other: Spool? = try announce(at: time, on: bench)
            try await bench.withDaemon { daemon in
                try await eventually("done") { bench.archived("done").count == 1 }
                let app = "\(bench.path)/spool/weather"
                let done = "\(bench.path)/spool/\(try #require(bench.archived("done").first))"
                try FileManager.default.linkItem(atPath: done, toPath: "\(app)/work/gone/\(id)-\(name)")
                #expect(other != nil)
                other = nil
                try await daemon.says(message)
                try await eventually("nothing left") { bench.names(in: "weather/work/gone").isEmpty }
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
            let counts = [await bench.simulator.ledger.arrivedCount, bench.archived("done").count]
            ends.withLock { $0 = counts }
        }
        return ends.withLock { $0 }
    }

    @Test func `a file that the daemon has claimed after the node announced it is not sent for the node`() async throws
    {
        let time = WallTime(epochSeconds: 1_700_000_000)
        #expect(try await ends(announcedAt: time, says: "claim was cut off") == [2, 1])
    }

    @Test func `a file that was claimed before the node announced it was dropped twice, and is sent twice`()
        async throws
    {
        let time = WallTime(epochSeconds: 4_000_000_000)
        #expect(try await ends(announcedAt: time, says: "job resumed") == [4, 2])
    }
}

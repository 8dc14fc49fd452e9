import Document
import JSON
import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

/// What the daemon shows to all.
@Suite struct PublicFilesTests {
    let test: TestSpool

    init() throws {
        test = try TestSpool()
    }

    private var published: Directory {
        get throws { try Directory.open(path: test.place.path + "/.pushspool/public/host-a") }
    }

    private var names: [String] {
        get throws { try published.sortedNames() }
    }

    @Test func `status and metrics are replaced whole, for all to read`() throws {
        let status = SpoolStatus(node: "host-a", processID: 1, startedAt: test.noon, writtenAt: test.noon)
        for text in ["a 1\n", "a 2\n"] {
            try test.spool.publish(status)
            try test.spool.publish(metrics: Array(text.utf8))
            #expect(try published.text("metrics.prom") == text)
        }
        #expect(try names == ["metrics.prom", "status.json"])
        for name in try names {
            #expect(try published.status(of: Array(name.utf8))?.mode == 0o644)
        }
    }

    @Test func `what a crash has left half written is in nobody's way, and never ends like metrics`() throws {
        try published.put(".metrics.prom~", "half")
        try test.spool.publish(metrics: Array("whole 1\n".utf8))
        #expect(try names == ["metrics.prom"])
        #expect(try published.text("metrics.prom") == "whole 1\n")
    }

    @Test func `public files are written again after their folder was removed or replaced`() throws {
        try test.spool.publish(metrics: Array("a 1\n".utf8))
        let own = try Directory.open(path: test.place.path + "/.pushspool")
        try own.rename(Array("public".utf8), to: own, as: Array("elsewhere".utf8))
        #expect(try !test.spool.hasPublishedApps())
        try test.spool.publish(metrics: Array("a 2\n".utf8))
        #expect(try published.text("metrics.prom") == "a 2\n")
    }

    @Test func `a daemon that ends takes both with it`() throws {
        let status = SpoolStatus(node: "host-a", processID: 1, startedAt: test.noon, writtenAt: test.noon)
        try test.spool.publish(status)
        try test.spool.publish(metrics: [])
        try test.spool.removeStatus()
        #expect(try names.isEmpty)
        try test.spool.removeStatus()
    }

    @Test func `the journal tells how much was written and how long its syncs took`() throws {
        let before = test.spool.journal.figures
        try test.spool.journal.append(.header(header(job(1))))
        try test.spool.journal.flush()
        let after = test.spool.journal.figures
        #expect(after.syncTimes.count == before.syncTimes.count + 1)
        #expect(after.writtenByteCount > before.writtenByteCount)
    }

    @Test func `all nodes of a spool have the mark that the first has published`() throws {
        var parser = JSON.Parser()
        var list = AppList(node: "host-a", limits: DocumentLimits())
        list.mark = 17
        try test.spool.publish(list)
        try Spool.publicFolder(in: test.spool.root).makeChild(Array("a".utf8), mode: 0o755).put("apps.json", "{")
        #expect(try test.spool.mark(&parser) == 17)
    }

    @Test func `two spools have different marks`() throws {
        var parser = JSON.Parser()
        let other = try TestSpool()
        #expect(try test.spool.mark(&parser) != other.spool.mark(&parser))
    }
}

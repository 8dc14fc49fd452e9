import JobFormat
import SpoolModel
import TestSupport
import Testing

/// Which names a node of a cluster takes first.
struct IntakeShareTests {
    private static let names = (0..<1200).map { FileName(bytes: Array("job-\($0).json".utf8)) }.compactMap(\.self)

    private func share(_ node: String, among nodes: [String]) -> IntakeShare {
        var share = IntakeShare(of: node)
        share.beginScan(with: nodes)
        return share
    }

    @Test(arguments: [2, 3, 4]) func `each name is first one node's, and each node's share is about equal`(
        count: Int
    ) {
        let nodes = (1...count).map { "node-\($0)" }
        var counts: [String: Int] = [:]
        for name in Self.names {
            let takers = nodes.filter { self.share($0, among: nodes).takesAtOnce(name) }
            #expect(takers.count == 1, "\(name): \(takers)")
            counts[takers.first ?? "", default: 0] += 1
        }
        let fair = Self.names.count / count
        for (node, count) in counts { #expect(abs(count - fair) < fair / 5, "\(node) has \(count) of \(fair)") }
    }

    @Test func `a name is left to each node before for two scans`() throws {
        let nodes = ["a", "b", "c"]
        for name in Self.names.prefix(50) {
            var scansByNode: [Int] = []
            for node in nodes {
                var share = IntakeShare(of: node)
                var scans = 0
                while true {
                    share.beginScan(with: nodes)
                    if share.takesListed(name) { break }
                    share.endScan()
                    scans += 1
                }
                scansByNode.append(scans)
            }
            #expect(scansByNode.sorted() == [0, 2, 4], "\(name)")
        }
    }

    @Test func `a name that was gone in between is new`() throws {
        let name = try #require(Self.names.first { !self.share("a", among: ["a", "b"]).takesAtOnce($0) })
        var share = self.share("a", among: ["a", "b"])
        let scans = [true, false, true, true, true].map { isThere in
            share.beginScan(with: ["a", "b"])
            defer { share.endScan() }
            return isThere && share.takesListed(name)
        }
        #expect(scans == [false, false, false, false, true])
    }

    @Test func `a node that is alone takes everything, and so does one whose peers have gone`() {
        var share = self.share("a", among: ["a", "b"])
        #expect(!Self.names.allSatisfy(share.takesAtOnce))
        share.beginScan(with: ["a"])
        #expect(Self.names.allSatisfy(share.takesAtOnce))
    }

    @Test func `more names than are remembered are left to others, and not forgotten by them`() {
        var share = self.share("a", among: ["a", "b"])
        let many = (0..<IntakeShare.nameLimit * 5 / 2).lazy.compactMap { FileName(bytes: Array("\($0).json".utf8)) }
        for _ in 0..<2 {
            share.beginScan(with: ["a", "b"])
            for name in many { _ = share.takesListed(name) }
            share.endScan()
        }
        share.beginScan(with: ["a", "b"])
        let taken = many.count { share.takesListed($0) }
        #expect(taken > IntakeShare.nameLimit * 2 && taken < many.count)
    }
}

import TestSupport
import Testing

@testable import HTTP2

/// The table of streams against a dictionary, at every size.
@Suite struct StreamTableTests {
    @Test(arguments: [UInt64](0..<8))
    func `every open stream is found, however many there are at a time`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = StreamTable(streamLimit: 4096)
        var open: [UInt32: Int32] = [:]
        var ids: [UInt32] = []
        var id: UInt32 = 1
        for round in 0..<20_000 {
            // More and more at a time, then fewer, with one that hangs.
            let wanted = round < 12_000 ? round / 3 : (20_000 - round) / 2
            if open.count <= wanted {
                let byteCount = Int.random(in: 0...100, using: &random)
                table.open(id, spending: byteCount)
                open[id] = Int32(-byteCount)
                if id > 1 { ids.append(id) }
                id += 2
            }
            while open.count > wanted, !ids.isEmpty {
                ids.swapAt(Int.random(in: ids.indices, using: &random), ids.count - 1)
                let last = ids.removeLast()
                let stream = table.close(last, as: .ended)
                #expect(stream?.id == last && stream?.credit == open.removeValue(forKey: last))
                #expect(table.phase(of: last) != .open && table[last] == nil)
            }
            if round % 4000 == 0 { check(table, open) }
        }
        check(table, open)
    }

    private func check(_ table: StreamTable, _ open: [UInt32: Int32]) {
        #expect(table.openCount == open.count && table.openStreams.count == open.count)
        #expect(open.allSatisfy { table[$0.key]?.credit == $0.value && table.phase(of: $0.key) == .open })
    }

    @Test func `what ended stays known while the table grows`() {
        var table = StreamTable(streamLimit: 4096)
        table.open(1, spending: 0)
        _ = table.close(1, as: .resetThere)
        for number in 1...900 { table.open(UInt32(2 * number + 1), spending: 0) }
        #expect(table.phase(of: 1) == .resetThere && table.openCount == 900)
        #expect(table.phase(of: 4001) == .unknown)
    }
}

import Document
import DoorModel
import TestSupport
import Testing

struct CommandIDsTests {
    @Test func `without a file the first id is 0, and ids follow one another`() throws {
        var ids = try CommandIDs(continuing: nil)
        let reservation = try #require(ids.reservation(for: 1))
        #expect(reservation.file == Array("1025\n".utf8))
        ids.note(reservation)
        #expect(ids.allocate(1) == 0..<1 && ids.allocate(2) == 1..<3)
        #expect(ids.reservation(for: 1022) == nil && ids.reservation(for: 1023) != nil)
    }

    @Test(arguments: [("0", 0), ("34\n", 34), ("0034\n", 34), ("9223372036854775807", 9_223_372_036_854_775_807)])
    func `a file's number is the next id`(file: String, first: UInt64) throws {
        var ids = try CommandIDs(continuing: Array(file.utf8))
        if let reservation = ids.reservation(for: 2) { ids.note(reservation) }
        #expect(ids.allocate(2) == first..<first + 2)
    }

    @Test(arguments: ["", "\n", " 34", "34 ", "34\n\n", "-1", "+1", "0x22", "9223372036854775808", "34\u{0}", "３"])
    func `a damaged file is refused with a remedy`(file: String) {
        let error = #expect(throws: TextFault.self) { try CommandIDs(continuing: Array(file.utf8)) }
        #expect(error?.hint.hasPrefix("write a number into it") == true)
    }

    @Test func `no id comes twice, however often the door dies`() throws {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            var file: [UInt8]?
            var last: UInt64?
            for _ in 0..<20 {
                var ids = try CommandIDs(continuing: file)
                for _ in 0..<Int.random(in: 0...30, using: &random) {
                    let count = Int.random(in: 1...(Bool.random(using: &random) ? 3 : 3000), using: &random)
                    if let reservation = ids.reservation(for: count) {
                        file = reservation.file
                        // It may die between the two.
                        if Int.random(in: 0...9, using: &random) == 0 { break }
                        ids.note(reservation)
                    }
                    let taken = ids.allocate(count)
                    #expect(taken.count == count && last.map { $0 < taken.lowerBound } ?? true, "seed \(seed)")
                    last = taken.upperBound - 1
                }
            }
        }
    }
}

import GatewaySimulator
import Testing

/// The oracle itself: which death a repetition is counted against.
@Suite struct BooksTests {
    /// A line of a ledger for each: the connection, and the index of the recipient.
    private func books(_ acceptances: [(connection: Int, index: Int)], starts: [Int]) throws -> Books {
        let lines = acceptances.enumerated().map { number, acceptance in
            """
            {"at":"2026-11-21T08:36:16.123Z","connection":\(acceptance.connection),"sequence":\(number + 1),"command":2,\
            "token":"\(Recipient(job: 1, index: acceptance.index).token)","payload":"{}","outcome":"accepted"}

            """
        }
        return Books(try Ledger.entries(ofLines: Array(lines.joined().utf8)), Books.Index(starts: starts))
    }

    @Test func `all connections of a daemon count against one death`() throws {
        let books = try books([(1, 0), (2, 1), (3, 0), (3, 1)], starts: [2])
        #expect(books.forgotten.mapValues(\.count) == [Books.Death(run: 0, app: "weather"): 2])
        #expect(books.resent.isEmpty && books.doubleCount == 2)
        #expect(books.connections[Books.Death(run: 0, app: "weather")] == [1, 2])
    }

    @Test func `what the same daemon sends again counts against the connection`() throws {
        let books = try books([(1, 0), (1, 1), (2, 0), (3, 1)], starts: [2])
        #expect(books.resent.mapValues(\.count) == [1: 1])
        #expect(books.forgotten.mapValues(\.count) == [Books.Death(run: 0, app: "weather"): 1])
    }

    @Test func `each death is counted by itself`() throws {
        let books = try books([(1, 0), (2, 0), (3, 0)], starts: [1, 2])
        #expect(books.forgotten.count == 2 && books.forgotten.values.allSatisfy { $0.count == 1 })
    }
}

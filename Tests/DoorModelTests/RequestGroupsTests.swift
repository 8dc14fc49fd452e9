import DoorModel
import PushModel
import Testing

struct RequestGroupsTests {
    private func at(_ milliseconds: Int64) -> Moment { .zero + .milliseconds(milliseconds) }

    private func pending(_ number: Int) -> UnansweredRequests.Pending {
        let name = AwaitedAnswers.Name(app: "x", id: NotificationID(job: JobID(bits: 1), index: number), to: [7])
        return .init(RelayRequest(number), as: name)
    }

    private func line(_ number: Int) -> [UInt8] { Array("{\"n\":\(number)}".utf8) }

    @Test func `requests of one app that come together are one job`() {
        var groups = RequestGroups(limit: 10, every: .milliseconds(5))
        let isEarlier = [
            groups.add(pending(1), line: line(1), to: "weather", at: at(0)),
            groups.add(pending(2), line: line(2), to: "news", at: at(1)),
            groups.add(pending(3), line: line(3), to: "weather", at: at(4)),
        ]
        #expect(isEarlier == [true, false, false])
        #expect(groups.nextDue == at(5) && groups.requestCount == 3 && groups.byteCount == 24)
        #expect(groups.takeDue(at: at(4)).isEmpty)
        let first = groups.takeDue(at: at(5))
        #expect(first.map(\.app) == ["weather"] && first.map { $0.requests.map(\.request) } == [[1, 3]])
        #expect(String(decoding: first[0].bytes, as: UTF8.self) == "{\"n\":1}\n{\"n\":3}\n" && first[0].isOfLines)
        #expect(groups.nextDue == at(6) && groups.requestCount == 1)
        #expect(groups.takeDue(at: at(9)).map(\.app) == ["news"])
        #expect(groups.nextDue == nil && groups.requestCount == 0 && groups.byteCount == 0)
    }

    @Test func `a full group is due at once, and the next begins`() {
        var groups = RequestGroups(limit: 2, every: .seconds(1))
        let isEarlier = (1...3).map { groups.add(pending($0), line: line($0), to: "weather", at: at(0)) }
        #expect(isEarlier == [true, true, true])
        #expect(groups.nextDue == .zero)
        #expect(groups.takeDue(at: at(0)).map { $0.requests.map(\.request) } == [[1, 2]])
        #expect(groups.nextDue == at(1000))
        #expect(groups.takeDue(at: at(1000)).map { $0.requests.map(\.request) } == [[3]])
    }

    @Test func `a job of its own does not wait`() {
        var groups = RequestGroups(limit: 2, every: .seconds(1))
        _ = groups.add(pending(1), line: line(1), to: "weather", at: at(0))
        groups.add(pending(2), document: line(2), to: "weather", at: at(0))
        let due = groups.takeDue(at: at(0))
        #expect(due.map { $0.requests.map(\.request) } == [[2]] && due.map(\.isOfLines) == [false])
        #expect(groups.requestCount == 1)
    }
}

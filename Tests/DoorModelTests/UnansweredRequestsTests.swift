import Document
import DoorModel
import PushModel
import TestSupport
import Testing

struct UnansweredRequestsTests {
    private func unanswered(wait: Duration?) -> UnansweredRequests {
        UnansweredRequests(RequestGroups(limit: 2, every: .milliseconds(5)), wait: wait)
    }

    private func id(_ number: Int) -> NotificationID { NotificationID(job: JobID(bits: 1), index: number) }

    private func name(_ number: Int, of app: String = "x") -> UnansweredRequests.Name {
        .init(app: app, id: id(number), to: [7])
    }

    /// A request that its client calls by its number, or by that of another which it repeats.
    private func pending(_ number: Int, as other: Int? = nil) -> UnansweredRequests.Pending {
        var request = RelayRequest(number)
        request.key = key(other ?? number)
        return .init(request, as: name(other ?? number))
    }

    private func key(_ number: Int) -> RecentIDs.Key { .init(producer: FNV1a([1].span), id: id(number), to: [7]) }

    private func at(_ milliseconds: Int64) -> Moment { .zero + .milliseconds(milliseconds) }

    @Test func `requests are answered when their job is dropped, with those that repeat them`() throws {
        for isDropped in [true, false] {
            var unanswered = unanswered(wait: nil)
            for number in 1...2 {
                _ = unanswered.add(pending(number), line: [1], to: "x", at: at(0))
            }
            unanswered.follow(key(2), with: 3)
            let group = try #require(unanswered.takeDue(at: at(0)).first)
            unanswered.follow(key(1), with: 4)
            #expect(unanswered.unspooledCount == 2 && unanswered.answer(name(1)) == [])
            #expect(unanswered.conclude(group, droppedAs: isDropped ? "a" : nil, at: at(1)) == [1, 4, 2, 3])
            #expect(unanswered.unspooledCount == 0 && !unanswered.isAwaiting && unanswered.nextDue == nil)
        }
    }

    @Test func `with the gateway's answer they wait on, and each is answered once`() throws {
        var unanswered = unanswered(wait: .milliseconds(100))
        for number in 1...2 {
            _ = unanswered.add(pending(number), line: [1], to: "x", at: at(0))
        }
        unanswered.follow(key(2), with: 3)
        let group = try #require(unanswered.takeDue(at: at(0)).first)
        // The gateway is quicker than the drop.
        #expect(unanswered.answer(name(1)) == [])
        #expect(unanswered.conclude(group, droppedAs: "a", at: at(10)) == [])
        #expect(unanswered.hasHeard && unanswered.takeHeard().flatMap(\.requests) == [1] && !unanswered.hasHeard)
        #expect(unanswered.isAwaiting && unanswered.takeLate(at: at(109)) == [])
        #expect(
            unanswered.takeLate(at: at(110)) == [2, 3] && unanswered.answer(name(2)) == []
                && !unanswered.isAwaiting)
    }

    @Test func `what could not be dropped is answered at once, whatever was heard of an earlier job`() throws {
        var unanswered = unanswered(wait: .milliseconds(100))
        for number in 1...2 {
            _ = unanswered.add(.init(RelayRequest(number), as: name(number)), line: [1], to: "x", at: at(0))
        }
        let group = try #require(unanswered.takeDue(at: at(0)).first)
        #expect(unanswered.answer(name(1)) == [])
        #expect(unanswered.conclude(group, droppedAs: nil, at: at(10)) == [1, 2])
        #expect(!unanswered.isAwaiting && unanswered.takeLate(at: at(500)) == [])
    }

    @Test func `the end of an earlier job with the same id is no answer, before the drop and after it`() throws {
        for isEarly in [true, false] {
            var unanswered = unanswered(wait: .milliseconds(100))
            _ = unanswered.add(pending(1), line: [1], to: "x", at: at(0))
            let group = try #require(unanswered.takeDue(at: at(5)).first)
            if isEarly { #expect(unanswered.answer(name(1), of: "earlier") == []) }
            #expect(unanswered.conclude(group, droppedAs: "a", at: at(6)) == [])
            if !isEarly { #expect(unanswered.answer(name(1), of: "earlier") == []) }
            #expect(unanswered.answer(name(1), of: "a") == [1])
        }
    }

    @Test func `the end of a whole job is the answer to those that still wait for it, and to no others`() throws {
        var unanswered = unanswered(wait: .milliseconds(100))
        for (number, app) in [(1, "x"), (2, "x"), (3, "y")] {
            _ = unanswered.add(
                .init(RelayRequest(number), as: name(number, of: app)), line: [1], to: app, at: at(0))
        }
        for group in unanswered.takeDue(at: at(5)) {
            #expect(unanswered.conclude(group, droppedAs: "a", at: at(6)) == [])
        }
        #expect(unanswered.answer(name(1)) == [1])
        for (app, file) in [("x", "b"), ("z", "a")] {
            unanswered.record(.accepted, aboutAllOf: .init(app: app, file: file))
            #expect(!unanswered.hasHeard)
        }
        unanswered.record(.accepted, aboutAllOf: .init(app: "x", file: "a"))
        #expect(unanswered.takeHeard().flatMap(\.requests) == [2])
        #expect(unanswered.takeLate(at: at(500)) == [3] && !unanswered.isAwaiting)
    }

    @Test func `a request that repeats an answered one has a time of its own, from its drop on`() throws {
        var unanswered = unanswered(wait: .milliseconds(100))
        func group(_ number: Int, at time: Int64) throws -> UnansweredRequests.Group {
            unanswered.add(pending(number, as: 1), document: [1], to: "x", at: at(time))
            return try #require(unanswered.takeDue(at: at(time)).first)
        }
        let first = try group(1, at: 0)
        #expect(unanswered.conclude(first, droppedAs: "a", at: at(0)) == [] && unanswered.answer(name(1)) == [1])
        let second = try group(2, at: 60)
        #expect(unanswered.takeLate(at: at(101)) == [])
        #expect(unanswered.conclude(second, droppedAs: "b", at: at(150)) == [])
        #expect(unanswered.takeLate(at: at(249)) == [] && unanswered.takeLate(at: at(250)) == [2])
    }

    @Test func `no time runs before the job is dropped`() throws {
        var unanswered = unanswered(wait: .milliseconds(100))
        _ = unanswered.add(.init(1, as: name(1)), line: [1], to: "x", at: at(0))
        let group = try #require(unanswered.takeDue(at: at(5)).first)
        #expect(unanswered.takeLate(at: at(9_000)) == [])
        #expect(unanswered.conclude(group, droppedAs: nil, at: at(9_001)) == [1])
    }

    @Test func `at the end those whose job is dropped are answered, and the others when it is`() throws {
        var unanswered = unanswered(wait: .seconds(60))
        for (number, app) in [(1, "x"), (2, "y")] {
            _ = unanswered.add(.init(RelayRequest(number), as: name(number)), line: [1], to: app, at: at(0))
        }
        let groups = unanswered.takeDue(at: at(5))
        #expect(unanswered.conclude(groups[0], droppedAs: "a", at: at(6)) == [])
        #expect(unanswered.stopWaiting() == [1])
        #expect(unanswered.conclude(groups[1], droppedAs: "a", at: at(7)) == [2] && !unanswered.isAwaiting)
    }

    @Test func `whatever happens in whatever order, each request is answered once`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var unanswered = unanswered(wait: Bool.random(using: &random) ? .milliseconds(20) : nil)
            var (answered, open, writing) = ([RelayRequest](), [Int](), [UnansweredRequests.Group]())
            for number in 1...200 {
                let now = at(Int64(number))
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    let app = Bool.random(using: &random) ? "x" : "y"
                    _ = unanswered.add(pending(number), line: [1], to: app, at: now)
                    open.append(number)
                case 1:
                    let group = writing.randomElement(using: &random)
                    guard let key = group?.requests.randomElement(using: &random)?.key else { break }
                    unanswered.follow(key, with: RelayRequest(number))
                    open.append(number)
                case 2: writing += unanswered.takeDue(at: now)
                case 3:
                    guard !writing.isEmpty else { break }
                    let group = writing.removeFirst()
                    let job = Bool.random(using: &random) ? "\(number)" : nil
                    answered += unanswered.conclude(group, droppedAs: job, at: now)
                case 4:
                    let job = String(Int.random(in: 0..<number, using: &random))
                    unanswered.record(.accepted, aboutAllOf: .init(app: "x", file: job))
                default:
                    let job = String(Int.random(in: max(0, number - 20)..<number, using: &random))
                    answered += unanswered.answer(name(.random(in: 0..<200, using: &random)), of: job)
                }
                answered += unanswered.takeLate(at: now) + unanswered.takeHeard().flatMap(\.requests)
            }
            writing += unanswered.takeDue(at: at(1000))
            for (number, group) in writing.enumerated() {
                answered += unanswered.conclude(group, droppedAs: "late \(number)", at: at(1000))
            }
            answered += unanswered.takeHeard().flatMap(\.requests) + unanswered.takeLate(at: at(5000))
            #expect(answered.map(\.connection).sorted() == open.sorted(), "seed \(seed)")
        }
    }
}

extension UnansweredRequests {
    /// Lets the end of a notification be heard, and returns the requests that it answers.
    fileprivate mutating func answer(_ name: Name, of job: String = "a") -> [RelayRequest] {
        record(.accepted, about: name, in: job)
        return takeHeard().flatMap(\.requests)
    }
}

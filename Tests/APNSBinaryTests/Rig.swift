import APNSBinary
import PushModel
import Testing

/// One connection after the other over a queue, led step by step by a test.
struct Rig {
    var queue = SendQueue()
    var now = Moment.zero
    private(set) var machine: PipelineMachine
    /// What has been written to the present connection, and to which stream offset.
    private(set) var identifiers: [Name: UInt32] = [:]
    private(set) var offset: UInt64 = 0
    /// Where each notification's record ends in the stream.
    private(set) var ends: [Name: UInt64] = [:]
    /// How often each notification was written, over all connections.
    private(set) var writeCounts: [Name: Int] = [:]
    private(set) var wire: [Name] = []
    /// All settlements of a notification, in order.
    private(set) var settlements: [Name: [Settlement]] = [:]
    private let options: PipelineMachine.Options

    init(_ count: Int = 0, _ options: PipelineMachine.Options = .init(), firstSequence: UInt64 = 0) {
        self.options = options
        self.machine = PipelineMachine(options: options, firstSequence: firstSequence)
        queue.append(.named(0..<count))
    }

    /// Writes what may be written, each call as one record.
    @discardableResult
    mutating func write(atMost limit: Int = .max) throws -> [Name] {
        var (bytes, count): ([UInt8], Int) = ([], 0)
        while count < limit, let batch = queue.next(atMost: min(limit - count, machine.room)) {
            var rest = batch
            machine.write(&rest, to: &bytes)
            queue.putBack(rest)
            count += batch.count - rest.count
        }
        return try record(bytes)
    }

    mutating func writeProbe() throws -> UInt32 {
        var bytes: [UInt8] = []
        machine.writeProbe(into: &bytes)
        _ = try record(bytes)
        return try #require(try frames(of: bytes).first?.frame.identifier)
    }

    private mutating func record(_ bytes: [UInt8]) throws -> [Name] {
        offset += UInt64(bytes.count)
        machine.mark(offset: offset)
        let written = try frames(of: bytes).compactMap { frame, token in
            Name(token: token).map { (name: $0, identifier: frame.identifier) }
        }
        for (name, identifier) in written {
            identifiers[name] = identifier
            ends[name] = offset
            writeCounts[name, default: 0] += 1
            wire.append(name)
        }
        return written.map(\.name)
    }

    /// The peer's kernel has everything up to `offset`, by default all of it.
    mutating func acknowledge(_ offset: UInt64? = nil) {
        machine.acknowledge(offset ?? self.offset, at: now)
    }

    /// Lets time go by in silence.
    @discardableResult
    mutating func pass(_ duration: Duration) -> [Settlement] {
        now = now + duration
        let proved = machine.settle(at: now)
        queue.confirm(proved)
        keep(proved)
        return proved
    }

    /// Ends the hold of the job, as the acceptance of another of its notifications does.
    mutating func liftHold() { queue.confirm([Settlement(.named(999..<1000), .accepted)]) }

    mutating func receive(_ bytes: [UInt8]) throws -> ErrorReply? { try machine.receive(bytes) }

    /// The connection ends, and the next one begins.
    @discardableResult
    mutating func end(_ end: ConnectionEnd) -> DoubtResolution {
        let resolution = machine.end(end)
        keep(queue.apply(resolution, at: .zero) { _ in .zero })
        machine = PipelineMachine(options: options)
        (identifiers, ends, offset) = ([:], [:], 0)
        return resolution
    }

    /// Lets the jobs on hold ask, and expects that there are any.
    mutating func ask(at location: SourceLocation = #_sourceLocation) {
        let isAny = queue.ask(false, at: now)
        #expect(isAny, sourceLocation: location)
    }

    /// The gateway names a notification of job 1, and closes.
    @discardableResult
    mutating func reply(_ status: Status, naming index: Int) throws -> DoubtResolution {
        let identifier = try #require(identifiers[Name(job: 1, index: index)])
        return end(.reply(ErrorReply(status: status, identifier: identifier)))
    }

    private mutating func keep(_ new: [Settlement]) {
        for settlement in new {
            for name in settlement.batch.names { settlements[name, default: []].append(settlement) }
        }
    }

    /// The outcomes of a notification of job 1.
    func outcomes(_ index: Int) -> [Outcome] {
        settlements[Name(job: 1, index: index), default: []].map(\.outcome)
    }

    /// Which notifications of job 1 were accepted, in order.
    var accepted: [Int] {
        settlements.filter { $0.value.contains { $0.outcome == .accepted } }.map(\.key.index).sorted()
    }
}

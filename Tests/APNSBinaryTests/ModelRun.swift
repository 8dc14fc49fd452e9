import APNSBinary
import PushModel
import TestSupport
import Testing

/// A seeded run of machine and queue against a model of the gateway, over as many connections as it takes.
struct ModelRun {
    /// What kind of trouble there is.
    enum Weather: CaseIterable, Sendable {
        /// Refusals by name, failures, shutdowns: nothing is ever in doubt.
        case fair
        /// Also cuts, refused connections, half replies, several connections, `on_doubt: report`.
        case storm
        /// Refusals that name nobody, or somebody unknown.
        case fog
        /// Replies that come after silence has settled what they name.
        case late
        /// Silence proves nothing; a probe settles.
        case probe
        /// Command 0: refusals are bare closes.
        case mute
    }

    let weather: Weather
    let options: PipelineMachine.Options
    let connectionLimit: Int
    let bad: Set<Name>
    let reported: Set<Int>
    private(set) var names: [Name] = []
    private(set) var ledger = Ledger()
    private(set) var settlements: [Name: [Settlement]] = [:]
    private(set) var (doubtfulCount, lostCount, connectionCount) = (0, 0, 0)
    private(set) var hasHunted = false
    private(set) var queue = SendQueue()
    private var links: [ModelLink] = []
    private var now = Moment.zero
    private var random: SeededGenerator

    init(_ weather: Weather, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.weather = weather
        self.options = PipelineMachine.Options(
            format: weather == .mute ? .simple : [.frame, .enhanced].randomElement(using: &random) ?? .frame,
            windowLimit: [3, 8, 100].randomElement(using: &random) ?? 8,
            confirmAfter: weather == .probe ? nil : .seconds(5))
        connectionLimit = [.storm, .fog].contains(weather) ? .random(in: 1...3, using: &random) : 1
        let jobs = (1...Int.random(in: 1...3, using: &random)).map { ($0, Int.random(in: 1...15, using: &random)) }
        names = jobs.flatMap { job, count in (0..<count).map { Name(job: job, index: $0) } }
        bad = Set(names.filter { _ in Int.random(in: 0..<10, using: &random) == 0 })
        reported = weather == .storm ? Set((1...3).filter { _ in Bool.random(using: &random) }) : []
        self.random = random
        for (job, count) in jobs {
            queue.append(.named(0..<count, job: job, onDoubt: reported.contains(job) ? .report : .resend))
        }
    }

    /// Runs until everything has its outcome. Returns whether it came to that.
    mutating func run() throws -> Bool {
        for _ in 0..<20_000 {
            // As a job does whose pauses are longer than it takes to be answered.
            if links.allSatisfy({ $0.machine.doubtCount == 0 }) { _ = queue.ask(false, at: now) }
            if queue.count == 0, links.allSatisfy({ $0.machine.doubtCount == 0 && $0.closing == nil }) { return true }
            if links.count < connectionLimit, links.isEmpty || Int.random(in: 0..<8, using: &random) == 0 { connect() }
            let place = Int.random(in: 0..<links.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1, 2: try write(place)
            case 3, 4: try links[place].deliver(into: &ledger, at: now, using: &random)
            case 5: acknowledge(place)
            case 6: pass()
            default: if weather == .storm { try disturb(place) }
            }
        }
        return false
    }

    private mutating func connect() {
        connectionCount += 1
        var manners = Manners()
        let isTroubled = connectionCount < 12
        if [.fair, .storm, .late].contains(weather), isTroubled {
            manners.failureInterval = [0, 10].randomElement(using: &random) ?? 0
            manners.shutdown = [nil, 3].randomElement(using: &random) ?? nil
        }
        if weather == .storm, isTroubled {
            manners.isRefusingConnection = Int.random(in: 0..<6, using: &random) == 0
            manners.isCuttingReply = Int.random(in: 0..<6, using: &random) == 0
        }
        if weather == .fog { manners.naming = [.zero, .unissued].randomElement(using: &random) ?? .zero }
        if weather == .probe { manners.naming = [.zero, .identifier].randomElement(using: &random) ?? .zero }
        if weather == .late { manners.latency = 0..<9_000 }
        let starts: [UInt64] = [0, 0xFFFF_FFFF - 5, 3 * 0xFFFF_FFFF - 2]
        let first = starts.randomElement(using: &random) ?? 0
        links.append(
            ModelLink(
                machine: PipelineMachine(options: options, firstSequence: first),
                gateway: ModelGateway(manners: manners) { [bad] in bad.contains($0) }))
    }

    private mutating func write(_ place: Int) throws {
        let room = links[place].machine.room
        var bytes: [UInt8] = []
        if let batch = queue.next(atMost: min(room, .random(in: 1...10, using: &random))) {
            var rest = batch
            links[place].machine.writeRecord(&rest, to: &bytes, byteLimit: .random(in: 1...200, using: &random))
            if !rest.isEmpty { queue.putBack(rest) }
        } else if weather == .probe, queue.isBlocked || room == 0, links[place].machine.doubtCount > 0,
            !links[place].machine.isProbing
        {
            links[place].machine.writeProbe(into: &bytes)
        }
        guard !bytes.isEmpty else { return }
        links[place].written += UInt64(bytes.count)
        links[place].machine.mark(offset: links[place].written)
        links[place].records.append((bytes, links[place].written))
        #expect(links[place].machine.doubtCount <= options.windowLimit)
        for (frame, _) in try frames(of: bytes) {
            guard let identifier = frame.identifier else { continue }
            #expect(identifier != 0 && links[place].identifiers.insert(identifier).inserted)
        }
    }

    private mutating func acknowledge(_ place: Int) {
        links[place].machine.acknowledge(links[place].delivered, at: now)
    }

    /// Lets time go by, but not past anything that is to happen.
    private mutating func pass() {
        let events = links.compactMap(\.closing) + links.compactMap(\.machine.nextSettlement)
        let later = now + .milliseconds(Int64.random(in: 1...3_000, using: &random))
        now = max(now, min(later, events.min() ?? later))
        for place in links.indices.reversed() where links[place].closing.map({ $0 <= now }) ?? false { hangUp(place) }
        for place in links.indices {
            let proved = links[place].machine.settle(at: now)
            queue.confirm(proved)
            keep(proved)
        }
    }

    /// The gateway's end of the connection reaches us, or a part of its reply does.
    private mutating func hangUp(_ place: Int) {
        let link = links[place]
        let rest = link.replyBytes.dropFirst(link.receivedByteCount)
        let isCut = link.gateway.manners.isCuttingReply
        if rest.isEmpty || (isCut && link.receivedByteCount > 0) {
            return end(place, .silent(handedOver: .random(in: link.delivered...link.written, using: &random)))
        }
        let part = rest.prefix(isCut ? .random(in: 1...5, using: &random) : .random(in: 1...rest.count, using: &random))
        links[place].receivedByteCount += part.count
        do {
            if let reply = try links[place].machine.receive(part) { return end(place, .reply(reply)) }
        } catch {
            Issue.record("a valid reply was refused: \(error)")
        }
        links[place].closing = now + .milliseconds(Int64.random(in: 0...9_000, using: &random))
    }

    /// Breaks the connection now and then: the gateway may have read some of what the kernel took whole.
    private mutating func disturb(_ place: Int) throws {
        let link = links[place]
        if link.gateway.manners.isRefusingConnection { return end(place, .refused) }
        guard connectionCount < 12, Int.random(in: 0..<6, using: &random) == 0 else { return }
        let handedOver = UInt64.random(in: link.delivered...link.written, using: &random)
        while let record = links[place].records.first, record.end <= handedOver, Bool.random(using: &random) {
            try links[place].deliver(into: &ledger, at: now, using: &random)
        }
        end(place, .silent(handedOver: handedOver))
    }

    private mutating func end(_ place: Int, _ end: ConnectionEnd) {
        let resolution = links[place].machine.end(end)
        links.remove(at: place)
        doubtfulCount += resolution.doubtfulCount
        lostCount += resolution.lostCount
        keep(queue.apply(resolution, at: .zero) { _ in .zero })
        hasHunted = hasHunted || queue.isHunting
    }

    private mutating func keep(_ new: [Settlement]) {
        for settlement in new {
            for name in settlement.batch.names { settlements[name, default: []].append(settlement) }
        }
    }
}

import Foundation
import GatewaySimulator
import TestSupport

// Judging a trial.
extension Bench {
    /// Lets a daemon finish what is left, looks at everything, starts another one and sees whether it changes anything.
    ///
    /// - Parameters:
    ///   - title: what the trial was, with its seed.
    ///   - allowance: how many recipients of an app one death, or the end of a connection, may have doubled; `nil`: what
    ///     is promised (`Bench.allowance`).
    ///   - others: what arrived at the gateway in these places belongs to another trial.
    ///   - limit: how long the rest may take.
    /// - Returns: which invariants hold; it has been printed.
    /// - Throws: what keeps the trial from being judged.
    func judge(
        _ title: String, allowance: Int? = nil, without others: Range<Int> = 0..<0,
        within limit: Duration = patience
    ) async throws -> Verdict {
        try await finish(within: limit)
        var verdict = Verdict(title)
        verdict.allowance = allowance ?? self.allowance
        let (before, entries) = (try snapshot(), try await self.entries())
        let mine = Array(entries[..<others.lowerBound] + entries[others.upperBound...])
        var inspection = Inspection(bench: self, books: Books(mine, bookIndex), verdict: verdict)
        try inspection.run()
        verdict = inspection.verdict
        try await finish(within: .seconds(2))
        let (after, arrivedLater) = (try snapshot(), try await self.entries().count)
        for (path, size) in after where before[path] != size { verdict.note(.atRest, "\(path) is new or has changed") }
        for path in before.keys where after[path] == nil { verdict.note(.atRest, "\(path) is gone") }
        if arrivedLater != entries.count {
            verdict.note(.atRest, "\(arrivedLater - entries.count) more notifications were sent")
        }
        if let volume { try await look(at: volume, &verdict) }
        report("\(verdict); seed \(seed), \(age) s")
        return verdict
    }

    private func look(at volume: Volume, _ verdict: inout Verdict) async throws {
        try await volume.unmount()
        verdict.check(.soundVolume)
        if let damage = try await volume.damage() { verdict.note(.soundVolume, damage) }
        try await volume.mount()
    }
}

/// One look at a spool that has come to rest.
struct Inspection {
    let bench: Bench
    let books: Books
    var verdict: Verdict

    /// The jobs that were dropped, by the names of their files.
    private let drops: [String: Drop]

    init(bench: Bench, books: Books, verdict: Verdict) {
        (self.bench, self.books, self.verdict) = (bench, books, verdict)
        drops = Dictionary(bench.drops.all.map { ($0.name, $0) }) { first, _ in first }
    }

    /// What producers of the app are told: names and states of jobs.
    private var notices: Set<String> = []

    /// Looks at everything.
    mutating func run() throws {
        verdict.jobCount = drops.count
        verdict.recipientCount = drops.values.reduce(0) { $0 + $1.count }
        for app in bench.setup.apps { try run(app) }
        countDoubles()
    }

    private mutating func run(_ app: String) throws {
        let mine = drops.filter { bench.app(of: $1) == app }
        let lines = try bench.lines(app)
        let ends = Dictionary(grouping: lines.filter { $0.kind == "job" }) { $0.job ?? "" }
        let told = Dictionary(grouping: lines.filter { $0.kind == "notification" }) { $0.id ?? "" }
        checkPlaces(of: mine, in: app)
        notices = bench.notices(of: app)
        for (name, drop) in mine {
            let ids = Set((ends[name] ?? []).compactMap(\.id))
            let indexes = Set(ids.flatMap { told[$0] ?? [] }.compactMap(\.index))
            checkRecipients(of: drop, told: indexes)
            checkLines(of: drop, ends[name] ?? [], told: indexes, in: app)
        }
        for name in ends.keys where mine[name] == nil { verdict.note(.toldFirst, "a line of \(name), never dropped") }
        checkRemains(in: app)
    }

    // MARK: One invariant each

    private mutating func checkPlaces(of mine: [String: Drop], in app: String) {
        var places: [String: [String]] = [:]
        for name in bench.names(in: app + "/hold") { places[plain(name), default: []].append("hold/\(name)") }
        for name in bench.names(in: app + "/new") { places[plain(name), default: []].append("new/\(name)") }
        for name in bench.claimed(app) { places[plain(String(name.dropFirst(27))), default: []].append("work/\(name)") }
        for path in bench.archived(app) where !path.hasSuffix(".result.json") {
            places[plain(String(path.split(separator: "/")[2])), default: []].append(path)
        }
        for name in mine.keys where places[name] == nil { verdict.note(.onePlace, "\(name) is nowhere") }
        for (name, list) in places {
            if mine[name] == nil { verdict.note(.onePlace, "\(list) was never dropped") }
            if list.count > 1 { verdict.note(.onePlace, "\(name) is in \(list)") }
            let isFinal = ["done", "failed", "hold"].contains { list[0].hasPrefix($0 + "/") }
            if !isFinal { verdict.note(.onePlace, "\(list[0]) has no end") }
        }
    }

    /// The name that a job was dropped by: the archive may have numbered it.
    private func plain(_ name: String) -> String {
        guard let mark = name.firstIndex(of: "~"), let end = name.lastIndex(of: "."), mark < end else { return name }
        return String(name[..<mark] + name[end...])
    }

    private mutating func checkRecipients(of drop: Drop, told: Set<Int>) {
        let lost = drop.recipients.filter { books.acceptances[$0] == nil && !told.contains($0.index) }
        guard !lost.isEmpty else { return }
        verdict.lostCount += lost.count
        verdict.note(.nobodyLost, "\(drop.name): \(lost.count) of \(drop.count) lost, the first is \(lost[0])")
    }

    private mutating func checkLines(of drop: Drop, _ ends: [FeedbackLine], told: Set<Int>, in app: String) {
        guard let last = ends.last else { return verdict.note(.toldFirst, "\(drop.name) has no line") }
        if !notices.contains("\(drop.name) \(last.state ?? "")") {
            verdict.note(.toldFirst, "\(drop.name) is not told to producers")
        }
        if Set(ends.map(\.counts)).count > 1 {
            verdict.note(.toldFirst, "\(drop.name) is told in several ways: \(ends.map(\.counts))")
        }
        if Set(ends.map(\.id)).count > 1 { verdict.note(.toldFirst, "\(drop.name) has several ids") }
        if last.state == "done" {
            if last.sum != drop.count { verdict.note(.toldFirst, "\(drop.name): \(last.sum) of \(drop.count) told") }
            let accepted = drop.recipients.count { books.acceptances[$0] != nil }
            if last.accepted ?? 0 > accepted {
                verdict.note(.toldFirst, "\(drop.name): \(last.accepted ?? 0) told as accepted, \(accepted) were")
            }
        }
        if drop.more.contains(#""record":"all""#), told.count != drop.count {
            verdict.note(.toldFirst, "\(drop.name): the lines of \(drop.count - told.count) recipients are missing")
        }
        if let path = last.path, !FileManager.default.fileExists(atPath: "\(bench.spool)/\(path)") {
            let places = bench.archived(app).filter { $0.contains("/" + drop.name.dropLast(5)) }
            verdict.note(.toldFirst, "\(drop.name) is told to be in \(path) and is not, but in \(places)")
        }
    }

    private mutating func checkRemains(in app: String) {
        for name in bench.claimed(app) { verdict.note(.noRemains, "work/\(name)") }
        for folder in ["new", "tmp", "hold", "feedback"] {
            for name in bench.names(in: "\(app)/\(folder)") where name.hasPrefix(".") && name != ".jobs" {
                if folder == "feedback", name.hasSuffix(".early") { continue }
                verdict.note(.noRemains, "\(folder)/\(name)")
            }
        }
        let archived = Set(bench.archived(app))
        for path in archived {
            let isHidden = path.split(separator: "/")[2].hasPrefix(".")
            let isResult = path.hasSuffix(".result.json")
            let isAlone = isResult && !archived.contains(String(path.dropLast(12)))
            if isHidden || isAlone { verdict.note(.noRemains, path) }
            let bytes = FileManager.default.contents(atPath: "\(bench.spool)/\(app)/\(path)") ?? Data()
            let isWhole = !isResult || (try? JSONSerialization.jsonObject(with: bytes)) != nil
            if !isWhole { verdict.note(.toldFirst, "\(path) is torn") }
        }
    }

    private mutating func countDoubles() {
        let (forgotten, resent) = (books.forgotten, books.resent)
        verdict.doubleCount = books.doubleCount
        verdict.mostDoubles = max(
            forgotten.values.map(\.count).max() ?? 0, resent.values.map(\.count).max() ?? 0)
        for (death, list) in forgotten where list.count > verdict.allowance + doubt(before: death) {
            let cause = "the death of daemon \(death.run + 1) made \(list.count) of \(death.app)"
            verdict.note(.fewDoubled, "\(cause) be sent again, of \(jobs(list))")
        }
        // What was answered is not in doubt when a connection ends.
        let bound = min(verdict.allowance, bench.setup.window)
        for (connection, list) in resent where list.count > bound {
            verdict.note(.fewDoubled, "\(list.count) of connection \(connection) were sent again, of \(jobs(list))")
        }
        for recipient in books.renamed {
            verdict.note(.fewDoubled, "\(recipient) was sent again under another apns-id")
        }
        if books.strangerCount > 0 { verdict.note(.fewDoubled, "\(books.strangerCount) tokens that nobody dropped") }
    }

    /// How many may have waited to be sent again when the daemon died because connections had left them in doubt: where
    /// the gateway ends connections, a window for each but the last.
    private func doubt(before death: Books.Death) -> Int {
        guard bench.setup.endsConnections, verdict.allowance > 0 else { return 0 }
        let ended = (books.connections[death]?.count ?? 0) - bench.setup.connections
        return max(0, ended) * bench.setup.window
    }

    private func jobs(_ recipients: [Recipient]) -> String {
        Set(recipients.map { "j\($0.job).json" }).sorted().prefix(4).joined(separator: " ")
    }
}

import Gateways
import PushModel

/// What a gateway told about the notifications of one job, by their index.
struct Record {
    private(set) var outcomes: [Int: Outcome] = [:]
    /// How many outcomes came for a notification that had one, and were not called corrections.
    private(set) var surplusCount = 0
    private(set) var correctionCount = 0
    private(set) var reports: [ConnectionReport] = []
    private(set) var connectCount = 0
    private(set) var stops: [GatewayFault] = []
    private(set) var troubles: [GatewayFault] = []
    private(set) var refusedJobs: [(job: JobID, fault: GatewayFault, pause: Duration?)] = []
    private(set) var tryCount = 0
    private(set) var resumeCount = 0
    private(set) var suspicionCount = 0
    /// How many were not processed after they had been announced.
    private(set) var withdrawnCount = 0
    /// What is to be announced and was not yet.
    private(set) var announcing: [Batch] = []
    /// How many notifications pause of which jobs.
    private(set) var paused: [JobID: Int] = [:]
    /// How many outcomes were told, repeated ones too.
    private(set) var settledCount = 0

    /// Notes one event.
    mutating func note(_ event: GatewayEvent) {
        switch event {
        case .settled(let settlements): for settlement in settlements { note(settlement) }
        case .reopened(let batches): for batch in batches { for index in batch.indices { outcomes[index] = nil } }
        case .paused(let counts): paused.merge(counts) { $1 }
        case .withdrawn(let batches): withdrawnCount += batches.reduce(0) { $0 + $1.count }
        case .announcing(let batches): announcing += batches
        case .connected: connectCount += 1
        case .disconnected(let report): reports.append(report)
        case .troubled(let fault, _): troubles.append(fault)
        case .refusedJob(let job, let fault, let pause): refusedJobs.append((job, fault, pause))
        case .stopped(let fault, _): stops.append(fault)
        case .trying: tryCount += 1
        case .resumed: resumeCount += 1
        case .suspectEnvironment: suspicionCount += 1
        }
    }

    private mutating func note(_ settlement: Settlement) {
        settledCount += settlement.batch.count
        if settlement.isCorrection { correctionCount += 1 }
        for index in settlement.batch.indices {
            if outcomes.updateValue(settlement.outcome, forKey: index) != nil, !settlement.isCorrection {
                surplusCount += 1
            }
        }
    }

    /// Takes what is to be announced.
    mutating func takeAnnouncing() -> [Batch] {
        defer { announcing = [] }
        return announcing
    }

    /// The indices with an outcome whose word is `word`, in order.
    func indices(_ word: String) -> [Int] {
        outcomes.filter { $0.value.kind.rawValue == word }.keys.sorted()
    }

    var acceptedCount: Int { outcomes.values.count { $0 == .accepted } }
    var doubtfulCount: Int { reports.reduce(0) { $0 + $1.doubtfulCount } }
    var resentCount: Int { reports.reduce(0) { $0 + $1.resentCount } }
    var unknownCount: Int { reports.reduce(0) { $0 + $1.unknownCount } }
}

import GatewaySimulator

/// Compares the results of the demo with the expected ones.
package struct DemoVerdict {
    let jobs: [DemoJob]
    let outcome: DemoOutcome
    private let accessTokenCount: Int

    /// Compares the outcome of these jobs, for which at least so many access tokens must have been asked for.
    package init(jobs: [DemoJob], outcome: DemoOutcome, accessTokenCount: Int = 0) {
        (self.jobs, self.outcome, self.accessTokenCount) = (jobs, outcome, accessTokenCount)
    }

    /// The differences in words; normally none.
    package var faults: [String] {
        jobs.flatMap { faults(of: $0) } + deliveryFaults + violations + tokenFaults
    }

    private var tokenFaults: [String] {
        let count = outcome.ledger?.tokenRequests.count ?? 0
        return count < accessTokenCount ? ["\(count) access tokens (expected at least \(accessTokenCount))"] : []
    }

    private func faults(of job: DemoJob) -> [String] {
        guard let found = outcome.jobs[job.name] else { return ["\(job.name) did not finish"] }
        let end: DemoJob.End = found.state == "done" ? .done : .failed(code: found.code ?? "")
        var faults: [String] = []
        if end != job.end { faults.append("\(job.name) ended as \(end) (expected \(job.end))") }
        if found.acceptedCount != job.acceptedCount {
            faults.append("\(job.name): \(found.acceptedCount) accepted (expected \(job.acceptedCount))")
        }
        if job.rejectedCount > 0, found.rejectedCount != job.rejectedCount {
            faults.append("\(job.name): \(found.rejectedCount) rejected (expected \(job.rejectedCount))")
        }
        return faults
    }

    /// Violations of the HTTP/2 protocol by the client, which a strict gateway would not accept.
    private var violations: [String] {
        outcome.ledger?.violations.map { "protocol violation: \($0)" } ?? []
    }

    /// Checks that the gateway accepted every good notification exactly once, complete, and no others.
    private var deliveryFaults: [String] {
        guard let ledger = outcome.ledger else { return ["the ledger is missing"] }
        var payloads: [[UInt8]: [String]] = [:]
        for entry in ledger.accepted { payloads[entry.token, default: []].append(entry.payloadText) }
        var faults: [String] = []
        for job in jobs {
            for token in job.good {
                let got = payloads.removeValue(forKey: token.bytes) ?? []
                if got.count != 1 {
                    faults.append("\(job.name): token \(token.number) was accepted \(got.count) times")
                }
                if let part = job.contents[token], got.first?.contains(part) != true {
                    faults.append("\(job.name): token \(token.number) got the wrong payload")
                }
            }
        }
        var broadcasts = payloads.removeValue(forKey: Array(DemoJobs.channel.utf8)) ?? []
        for job in jobs {
            guard let part = job.broadcast else { continue }
            let count = broadcasts.count
            broadcasts.removeAll { $0.contains(part) }
            if count - broadcasts.count != 1 {
                faults.append("\(job.name): the channel got it \(count - broadcasts.count) times")
            }
        }
        if !broadcasts.isEmpty { faults.append("the channel got \(broadcasts.count) broadcasts that are in no job") }
        return payloads.isEmpty ? faults : faults + ["the gateway accepted \(payloads.count) tokens that are in no job"]
    }
}

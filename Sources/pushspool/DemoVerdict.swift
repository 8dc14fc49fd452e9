import GatewaySimulator

/// Compares what happened with what had to.
struct DemoVerdict {
    let jobs: [DemoJob]
    let outcome: DemoOutcome

    /// What is not as it should be, in words; nothing, as a rule.
    var faults: [String] {
        jobs.flatMap { faults(of: $0) } + deliveryFaults + violations
    }

    private func faults(of job: DemoJob) -> [String] {
        guard let found = outcome.jobs[job.name] else { return ["\(job.name) did not end"] }
        let end: DemoJob.End = found.state == "done" ? .done : .failed(code: found.code ?? "")
        var faults: [String] = []
        if end != job.end { faults.append("\(job.name) ended as \(end), and not as \(job.end)") }
        if found.acceptedCount != job.good.count {
            faults.append("\(job.name): \(found.acceptedCount) accepted, and not \(job.good.count)")
        }
        if job.rejectedCount > 0, found.rejectedCount != job.rejectedCount {
            faults.append("\(job.name): \(found.rejectedCount) rejected, and not \(job.rejectedCount)")
        }
        return faults
    }

    /// What the client did over HTTP/2 that a strict gateway does not like.
    private var violations: [String] {
        outcome.ledger?.violations.map { "against the protocol: \($0)" } ?? []
    }

    /// Whether the gateway accepted every good notification exactly once, whole, and nothing else.
    private var deliveryFaults: [String] {
        guard let ledger = outcome.ledger else { return ["there is no ledger"] }
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
                    faults.append("\(job.name): token \(token.number) got another payload than it should")
                }
            }
        }
        return payloads.isEmpty ? faults : faults + ["the gateway accepted \(payloads.count) tokens of no job"]
    }
}

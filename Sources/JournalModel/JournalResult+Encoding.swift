import JobFormat
import PushModel

/// The most bytes kept of a reason's name.
private let reasonByteLimit = 128

extension JournalResult {
    func write(to bytes: inout [UInt8]) {
        bytes.appendInteger(at.nanoseconds)
        bytes.appendFlag(isCorrection)
        bytes.append(outcome.number)
        if let refusal = outcome.refusal { refusal.write(to: &bytes) }
        bytes.appendRanges(ranges)
        // Not with the refusal: journals without it are older.
        if let detail = outcome.refusal?.detail { bytes.appendText(detail) }
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        let at = try decoder.time()
        let isCorrection = try decoder.flag()
        let number = try decoder.byte()
        var refusal = [2, 4].contains(number) ? try Refusal(from: &decoder) : nil
        let ranges = try decoder.ranges()
        if refusal != nil, !decoder.isAtEnd { refusal?.detail = try decoder.text() }
        let outcome: Outcome
        switch (number, refusal) {
        case (1, _): outcome = .accepted
        case (2, let refusal?): outcome = .rejected(refusal)
        case (3, _): outcome = .expired
        case (4, let refusal?): outcome = .unsent(refusal)
        case (5, _): outcome = .unknown
        default: throw JournalMalformed()
        }
        self.init(outcome, ranges, at: at, isCorrection: isCorrection)
    }
}

extension Outcome {
    fileprivate var number: UInt8 {
        switch self {
        case .accepted: 1
        case .rejected: 2
        case .expired: 3
        case .unsent: 4
        case .unknown: 5
        }
    }
}

extension Refusal {
    fileprivate func write(to bytes: inout [UInt8]) {
        bytes.appendFlag(status != nil)
        if let status { bytes.appendInteger(Int32(truncatingIfNeeded: status)) }
        bytes.append(verdict.number)
        bytes.appendFlag(goneSince != nil)
        if let goneSince { bytes.appendInteger(goneSince.nanoseconds) }
        bytes.appendText(reason.prefix(utf8Count: reasonByteLimit))
    }

    fileprivate init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        let status = try decoder.flag() ? Int(try decoder.integer(Int32.self)) : nil
        let number = try decoder.byte()
        guard let verdict = Verdict.allCases.first(where: { $0.number == number }) else { throw JournalMalformed() }
        let goneSince = try decoder.flag() ? try decoder.time() : nil
        self.init(status: status, reason: try decoder.text(), verdict: verdict, goneSince: goneSince)
    }
}

extension Verdict {
    fileprivate var number: UInt8 {
        switch self {
        case .gone: 1
        case .invalid: 2
        case .message: 3
        case .config: 4
        case .later: 5
        }
    }
}

extension JournalFinal {
    func write(to bytes: inout [UInt8]) {
        bytes.appendInteger(finishedAt.nanoseconds)
        bytes.appendText(conclusion.code?.rawValue ?? "")
        bytes.appendTally(conclusion.tally)
        bytes.appendText(day)
        bytes.appendBytes(name.bytes)
        bytes.appendFlag(why != nil)
        if let why { bytes.appendText(why) }
        guard let earlier else { return }
        bytes.appendID(earlier.id)
        bytes.appendInteger(earlier.endedAt.nanoseconds)
        bytes.appendFlag(earlier.isOfSameFile)
    }

    init(from decoder: inout JournalDecoder) throws(JournalMalformed) {
        let finishedAt = try decoder.time()
        let word = try decoder.text()
        let code = ResultCode(rawValue: word)
        let conclusion = Conclusion(tally: try decoder.tally(), fault: code)
        guard code != nil || word.isEmpty, conclusion.code == code else { throw JournalMalformed() }
        let day = try decoder.text()
        guard !day.isEmpty, !day.utf8.contains(0x2F), !day.utf8.contains(0), day.utf8.first != 0x2E
        else { throw JournalMalformed() }
        self.init(conclusion, day: day, name: try decoder.name(), finishedAt: finishedAt)
        if try decoder.flag() { why = try decoder.text() }
        guard !decoder.isAtEnd else { return }
        earlier = SentTwin(
            id: try decoder.job(), endedAt: try decoder.time(), isOfSameFile: try decoder.flag())
    }
}

/// What a process found when it was asked whether it can do its work: the answer to a probe of `/readyz`.
package struct ReadinessReport: Hashable, Sendable {
    private struct Check: Hashable {
        let name: String
        let text: String
        let isGood: Bool
    }

    private var checks: [Check] = []

    /// Creates a report without checks.
    package init() {}

    /// Adds a check.
    ///
    /// - Parameters:
    ///   - name: what was checked, in one word.
    ///   - fault: what keeps the process from its work; `nil` if nothing does.
    package mutating func add(_ name: String, fault: String?) {
        checks.append(Check(name: name, text: fault ?? "ok", isGood: fault == nil))
    }

    /// Adds what is good to know and does not decide.
    package mutating func add(_ name: String, note: String) {
        checks.append(Check(name: name, text: note, isGood: true))
    }

    /// Whether the process can do its work.
    package var isReady: Bool { checks.allSatisfy(\.isGood) }

    /// The report as a page: a line for the whole, and one for each check.
    package var content: ScrapeRequest.Content {
        let lines = [isReady ? "ready" : "not ready"] + checks.map { "\($0.name): \($0.text)" }
        return .init(Array((lines.joined(separator: "\n") + "\n").utf8), isGood: isReady)
    }
}

import Synchronization
package import Testing

/// Makes a test print a line of the report on faults when all its cases have run: which fault of the catalogue
/// (`FaultTests/README.md`) it is about, and which invariants its expectations hold to.
package struct CatalogueTrait: TestTrait, TestScoping {
    /// Where a test's random numbers come from.
    package enum Dice: String, Sendable {
        /// There are none.
        case none = "no random"
        /// Seeds that stand in the test: every run is the same.
        case fixed = "fixed seeds"
    }

    private final class Course: Sendable {
        let counts = Mutex((cases: 0, issues: 0))
    }

    private let entry: String
    private let checks: [Invariant]
    private let dice: Dice
    private let course = Course()

    init(_ entry: String, _ checks: [Invariant], _ dice: Dice) {
        (self.entry, self.checks, self.dice) = (entry, checks, dice)
    }

    /// Itself, for the test as a whole as well as for each of its cases.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { self }

    /// Counts what goes wrong in a case; of the whole test it prints the line.
    ///
    /// - Throws: What the test throws.
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase == nil else { return try await watch(test, testCase, function) }
        let start = ContinuousClock.now
        try await function()
        let seconds = (start.duration(to: .now) / .milliseconds(100)).rounded() / 10
        let (cases, issues) = course.counts.withLock { $0 }
        let cost = "\(dice.rawValue), \(cases) \(cases == 1 ? "case" : "cases"), \(seconds) s"
        report("\(entry): \(verdict(issues)); \(cost)")
    }

    private func verdict(_ issues: Int) -> String {
        let marks = checks.map { "\($0.rawValue) \(issues == 0 ? "ok" : "in doubt")" }
        return (issues == 0 && !marks.isEmpty ? marks : [issues == 0 ? "ok" : "FAILED (\(issues))"] + marks)
            .joined(separator: " ")
    }

    private func watch(_ test: Test, _ testCase: Test.Case?, _ function: @concurrent @Sendable () async throws -> Void)
        async throws
    {
        let course = course
        course.counts.withLock { $0.cases += 1 }
        let issues = IssueHandlingTrait.compactMapIssues { issue in
            if issue.isFailure { course.counts.withLock { $0.issues += 1 } }
            return issue
        }
        do {
            try await issues.provideScope(for: test, testCase: testCase, performing: function)
        } catch {
            course.counts.withLock { $0.issues += 1 }
            throw error
        }
    }
}

extension Trait where Self == CatalogueTrait {
    /// Makes a test tell what it shows of a fault of the catalogue.
    ///
    /// - Parameters:
    ///   - entry: the fault's number and name, and which part of it, such as `B12 model-crash, the journal alone`.
    ///   - checks: the invariants that its expectations hold to, and no others.
    ///   - dice: where its random numbers come from.
    /// - Returns: The trait.
    package static func catalogue(
        _ entry: String, checks: [Invariant], dice: CatalogueTrait.Dice = .none
    ) -> Self { Self(entry, checks, dice) }
}

import PushModel
import TestSupport
import Testing

@testable import AppEngine
@testable import Configuration
@testable import LinuxIO
@testable import SharedResources

struct DescriptorBudgetTests {
    @Test(arguments: [(0, 67), (1, 91), (20, 547), (90, 2227), (1000, 24_067)])
    func `what is needed grows with the apps, as the manual says`(apps: Int, needed: Int) {
        #expect(DescriptorBudget(limit: 1024).needed(forApps: apps) == needed)
    }

    @Test func `a limit that is just enough is enough, and one less is not`() {
        #expect(DescriptorBudget(limit: 547).shortage(forApps: 20) == nil)
        #expect(DescriptorBudget(limit: 546).shortage(forApps: 20)?.needed == 547)
    }

    @Test func `metrics, and what was open before, count`() {
        let budget = DescriptorBudget(limit: 100, hasMetricsListener: true, inheritedCount: 3)
        #expect(budget.shortage(forApps: 1)?.needed == 104 && budget.capacity == 20)
    }

    @Test func `the error has the limit and what is needed`() {
        let text = DescriptorBudget(limit: 90).shortage(forApps: 20).map { "\($0)" } ?? ""
        #expect(text == "the limit on open files (RLIMIT_NOFILE) is 90, but the daemon needs 547 with 20 apps")
    }

    @Test func `as many apps are admitted as the limit carries, and one that goes makes room`() throws {
        var shares = DescriptorShares(DescriptorBudget(limit: 67 + 2 * DescriptorBudget.ofApp + 1))
        _ = try shares.admit("a")
        _ = try shares.admit("b")
        let error = #expect(throws: DescriptorShortage.self) { _ = try shares.admit("c") }
        #expect(error == DescriptorShortage(limit: 116, appCount: 3, needed: 139))
        shares.release("a")
        _ = try shares.admit("c")
    }

    @Test func `an app that is admitted keeps its descriptors over a new start`() throws {
        var shares = DescriptorShares(DescriptorBudget(limit: 67 + DescriptorBudget.ofApp))
        let first = try shares.admit("a")
        #expect(try shares.admit("a").jobFiles === first.jobFiles)
    }

    @Test(.catalogue("J74 few-descriptors, two apps", checks: []))
    func `an app that reads all it can leaves another what it needs`() throws {
        var shares = DescriptorShares(DescriptorBudget(limit: 67 + 2 * DescriptorBudget.ofApp + 10))
        let (greedy, other) = (try shares.admit("greedy"), try shares.admit("other"))
        var files: [DescriptorLease] = []
        while let lease = greedy.jobFiles.lease() { files.append(lease) }
        #expect(files.count == DescriptorBudget.jobFiles + 10)
        #expect(other.mayRead(.normal) && other.sockets.lease(2) != nil && greedy.sockets.lease(4) != nil)
    }

    @Test func `the last job file is for an urgent job`() throws {
        var shares = DescriptorShares(DescriptorBudget(limit: 67 + DescriptorBudget.ofApp))
        let app = try shares.admit("a")
        let lease = app.jobFiles.lease(DescriptorBudget.jobFiles - 1)
        withExtendedLifetime(lease) { #expect(!app.mayRead(.normal) && app.mayRead(.urgent)) }
    }

    @Test func `another filesystem has its threads, if the limit carries them`() throws {
        var shares = DescriptorShares(DescriptorBudget(limit: 67 + 3))
        try shares.admitFilesystem()
        #expect(throws: DescriptorShortage.self) { try shares.admitFilesystem() }
    }
}

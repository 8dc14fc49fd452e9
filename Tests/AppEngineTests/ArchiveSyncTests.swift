import LinuxIO
import TestSupport
import Testing

@testable import AppEngine
@testable import SharedResources

/// Apps that ask at a time share a sync of their filesystem.
struct ArchiveSyncTests {
    #if FAILPOINTS
        @Test func `apps share a sync that comes to a good end, and none that fails`() async throws {
            let (folder, archives) = (try TemporaryDirectory(), try ArchiveSync())
            let plan = FailPlan(under: folder.path, points: FailPoint.list("2:eio") ?? [])
            plan.install()
            defer { plan.remove() }
            let (first, second) = (ContinuousClock.now, ContinuousClock.now)
            await #expect(throws: SystemError.self) {
                try await archives.sync(folder.directory, askedAt: first)
            }
            try await archives.sync(folder.directory, askedAt: second)
            // A look which filesystem it is, and a sync, each time.
            #expect(plan.passedCount == 4, "the second had asked before the first sync failed")
            try await archives.sync(folder.directory, askedAt: first)
            #expect(plan.passedCount == 5, "a sync that began later")
            try await archives.sync(folder.directory, askedAt: .now)
            #expect(plan.passedCount == 7)
        }
    #endif
}

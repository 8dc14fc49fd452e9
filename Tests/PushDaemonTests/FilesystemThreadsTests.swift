import Configuration
import LinuxIO
import Logging
import SharedResources
import TestSupport
import Testing

@testable import AppEngine
@testable import PushDaemon

@Suite struct FilesystemThreadsTests {
    private static func resources(in place: TemporaryDirectory) throws -> DaemonResources {
        var configuration = DaemonConfiguration()
        (configuration.spool, configuration.state) = (place.path + "/spool", place.path + "/state")
        _ = try place.directory.makeChild(Array("spool".utf8), mode: 0o755)
        return try DaemonResources(configuration, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func `apps of one filesystem are spread evenly over as many threads as there are processors`() throws {
        let place = try TemporaryDirectory()
        let resources = try Self.resources(in: place)
        let threads = FilesystemThreads(resources)
        let limit = min(4, Host.processorCount)
        let names = (0..<2 * limit).map { "app\($0)" }
        let given = try names.map { try threads.thread(for: $0) {} }
        #expect(Set(given.map(ObjectIdentifier.init)).count == limit)
        #expect(given[0] === resources.files && names.allSatisfy(threads.isOwn))
        for thread in given { #expect(given.count { $0 === thread } == 2) }
        #expect(given.allSatisfy { $0.archives === resources.files.archives })
    }

    @Test(.enabled(if: Host.processorCount > 1, "with one processor there is one thread"))
    func `an app that starts anew, or goes, leaves room on its thread`() throws {
        let place = try TemporaryDirectory()
        let resources = try Self.resources(in: place)
        let threads = FilesystemThreads(resources)
        let first = try threads.thread(for: "a") {}
        let second = try threads.thread(for: "b") {}
        #expect(first !== second)
        // By itself again, it has both to choose from.
        #expect(try threads.thread(for: "b") {} === second)
        threads.forget("a")
        #expect(try threads.thread(for: "c") {} === first)
    }
}

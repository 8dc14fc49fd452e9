import AppEngine
import Configuration
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolStore

/// The threads for the apps' files, and whether they still answer.
///
/// Apps on the spool's own filesystem are spread over as many threads as there are processors, so that they work side by
/// side; each other filesystem has one. The first thread also runs the daemon: apps on it hang only if the daemon hangs.
final class FilesystemThreads {
    /// The most threads for the spool's own filesystem.
    private static let ownLimit = min(DescriptorBudget.fileThreads, Host.processorCount)

    /// Identifies a thread.
    private enum Home: Hashable {
        /// Of the spool's own filesystem, by number; 0 is the first.
        case own(Int)
        /// Of another filesystem, by its device.
        case other(UInt64)

        var isOther: Bool { if case .other = self { true } else { false } }
    }

    private let own: FileThread
    private let root: Directory
    private let logger: Logger
    /// Where the apps are.
    private var homes: [String: Home] = [:]
    /// All threads but the first.
    private var threads: [Home: FileThread] = [:]
    /// The threads that have worked on one thing since the last check, or longer.
    private var detectors: [Home: HangDetector] = [:]

    init(_ resources: DaemonResources) {
        (own, root, logger) = (resources.files, resources.spool.root, resources.logger)
    }

    /// Finds a thread of the filesystem that an app's folder is on, or starts one.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - admit: Called before the threads of another filesystem are started.
    /// - Returns: The thread. On the spool's own filesystem, it is the one with the fewest apps.
    /// - Throws: `SystemError`, or what `admit` throws: the app cannot start.
    func thread(for app: String, admit: () throws(DescriptorShortage) -> Void) throws -> FileThread {
        forget(app)
        let ownDevice = try root.status().device
        let device = try root.identityAtHand(of: Array(app.utf8))?.device ?? ownDevice
        let home = device == ownDevice ? Home.own(leastNumber) : .other(device)
        homes[app] = home
        if home == .own(0) { return own }
        if let known = threads[home] { return known }
        if device != ownDevice { try admit() }
        let started = device == ownDevice ? try FileThread(besides: own) : try FileThread()
        threads[home] = started
        return started
    }

    /// The number of the spool's own threads that has the fewest apps.
    private var leastNumber: Int {
        let numbers = 0..<Self.ownLimit
        let counts = numbers.map { number in homes.values.count { $0 == .own(number) } }
        return numbers.min { counts[$0] < counts[$1] } ?? 0
    }

    /// Removes an app that is not in the configuration any more.
    func forget(_ app: String) { homes[app] = nil }

    /// Whether an app is on the spool's own filesystem. Attending to it hangs only if the daemon hangs.
    func isOwn(for app: String) -> Bool { homes[app]?.isOther != true }

    /// Returns the path of the first of an app's folders that was moved, replaced or removed. Waits for no thread unless it
    /// is another filesystem's.
    ///
    /// - Throws: `SystemError`: it is unknown.
    func misplaced(_ runner: AppRunner, _ identity: FileIdentity?) async throws(SystemError) -> String? {
        guard let home = homes[runner.name], home.isOther, let thread = threads[home] else {
            return try runner.places.misplaced(identity)
        }
        return try await thread.misplaced(runner.places, identity)
    }

    /// Whether there are threads of other filesystems. If one of the spool's own hangs, the daemon likely hangs, too, so
    /// it is not looked for more often.
    var areAny: Bool { threads.keys.contains(where: \.isOther) }

    /// Whether any threads do not answer.
    var areHanging: Bool { !detectors.isEmpty }

    /// Since when an app's filesystem has not answered; `nil` if it answers.
    func standstill(of app: String) -> Moment? { homes[app].flatMap { detectors[$0] }?.begin }

    /// Checks whether all threads answer, and logs changes.
    func look() {
        for (home, thread) in threads {
            let progress = thread.worker.progress
            var detector = detectors[home] ?? HangDetector()
            let isNews = detector.note(progress, at: .now)
            detectors[home] = progress.isAtWork ? detector : nil
            if isNews { report(home, isStuck: detector.begin != nil) }
        }
    }

    private func report(_ home: Home, isStuck: Bool) {
        for name in homes.filter({ $1 == home }).keys.sorted() {
            guard isStuck else {
                logger.notice("app's filesystem responds again", metadata: [LogKey.app: "\(name)"])
                continue
            }
            let hint: Logger.MetadataValue = "check its disk or file server; other apps keep running"
            logger.error(
                "app is stuck: its filesystem does not respond", metadata: [LogKey.app: "\(name)", LogKey.hint: hint])
        }
    }
}

extension FileThread {
    /// Takes as long as the app's filesystem needs.
    fileprivate func misplaced(_ places: AppPlaces, _ identity: FileIdentity?) throws(SystemError) -> String? {
        try places.misplaced(identity)
    }
}

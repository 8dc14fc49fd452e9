import APNSGateway
import APNSModel
import AppEngine
import Configuration
import JobOperations
import LinuxIO
import Logging
import SpoolStore

/// The threads for the apps' files, one set for each filesystem, and whether they still answer.
///
/// The threads of the spool's own filesystem also run the daemon: apps on it hang only if the daemon hangs.
final class FilesystemThreads {
    private let own: FileThread
    private let root: Directory
    private let logger: Logger
    /// The device of each app that is on another filesystem, that device's threads, and whether they answer.
    private var homes: [String: UInt64] = [:]
    private var threads: [UInt64: FileThread] = [:]
    private var detectors: [UInt64: HangDetector] = [:]

    init(_ resources: DaemonResources) {
        (own, root, logger) = (resources.files, resources.spool.root, resources.logger)
    }

    /// Finds the threads of the filesystem that an app's folder is on, or starts them.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - admit: Called before threads are started for another filesystem.
    /// - Returns: The threads.
    /// - Throws: `SystemError`, or what `admit` throws: the app cannot start.
    func threads(for app: String, admit: () throws(DescriptorShortage) -> Void) throws -> FileThread {
        let ownDevice = try root.status().device
        guard let device = try root.identityAtHand(of: Array(app.utf8))?.device, device != ownDevice else {
            homes[app] = nil
            return own
        }
        homes[app] = device
        if let known = threads[device] { return known }
        try admit()
        let started = try FileThread(WorkerThread(name: "files"))
        threads[device] = started
        return started
    }

    /// Whether an app uses the daemon's own threads.
    func areOwn(for app: String) -> Bool { homes[app] == nil }

    /// Whether there are threads that can hang while the daemon works.
    var areAny: Bool { !threads.isEmpty }

    /// Whether any threads do not answer.
    var areHanging: Bool { !detectors.isEmpty }

    /// Since when an app's filesystem has not answered; `nil` if it answers.
    func standstill(of app: String) -> Moment? { homes[app].flatMap { detectors[$0] }?.begin }

    /// Checks whether all threads answer, and logs changes.
    func look() {
        for (device, thread) in threads {
            let progress = thread.worker.progress
            var detector = detectors[device] ?? HangDetector()
            let isNews = detector.note(progress, at: .now)
            detectors[device] = progress.isAtWork ? detector : nil
            if isNews { report(device, isStuck: detector.begin != nil) }
        }
    }

    private func report(_ device: UInt64, isStuck: Bool) {
        for name in homes.filter({ $1 == device }).keys.sorted() {
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

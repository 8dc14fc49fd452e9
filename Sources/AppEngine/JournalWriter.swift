import JournalModel
import LinuxIO
import Logging
import ServiceProcess
import SharedResources
import SpoolStore

/// Writes an app's part of the journal.
///
/// After a failure the app takes, sends and publishes nothing more. The daemon exits, and the next one reads the journal file.
final class JournalWriter {
    private let context: AppContext
    private let suppression: SuppressionList
    /// The end of the last record of this app.
    private(set) var lastRecord: JournalPosition?
    /// Whether the journal has failed.
    private(set) var isBroken = false

    init(_ context: AppContext, _ suppression: SuppressionList) {
        (self.context, self.suppression) = (context, suppression)
    }

    /// Adds a record; `write` or `sync` writes it to the file.
    func record(_ record: JournalRecord) {
        context.assertOwnThread()
        do throws(JournalFault) {
            lastRecord = try context.daemon.spool.append(record)
        } catch {
            stop(error)
        }
    }

    /// Adds a job of which some notifications were sent before.
    func adopt(_ header: JournalHeader, _ progress: JournalProgress) {
        do throws(JournalFault) {
            lastRecord = try context.daemon.spool.adopt(header, progress)
        } catch {
            stop(error)
        }
    }

    /// Writes the records to the file, so that they survive the death of the process. Writes the token log first.
    func write() {
        suppression.write()
        do {
            try context.daemon.spool.write()
        } catch {
            stop(error)
        }
    }

    /// Waits until all records so far are durable.
    ///
    /// - Parameters:
    ///   - isPatient: Whether to wait for another sync instead of requesting one.
    ///   - site: The purpose of the wait.
    /// - Returns: `false` if the journal has failed.
    func sync(isPatient: Bool = false, for site: SyncSite = .journal) async -> Bool {
        do {
            try await context.daemon.spool.sync(isPatient: isPatient, for: site)
            return true
        } catch {
            stop(error)
            return false
        }
    }

    /// Stops the daemon after a failed sync: the files on disk may differ from the written data.
    func stopIfSyncFailed(_ error: any Error) {
        guard let error = error as? SystemError, error.isFailedSync else { return }
        context.daemon.journal.condemn(error)
        stop(.broken(error))
    }

    private func stop(_ fault: JournalFault) {
        guard !isBroken else { return }
        isBroken = true
        if case .full = fault { context.daemon.journal.condemn(SystemError.outOfSpace("append", "journal")) }
        context.logger.error("journal cannot be written", metadata: [LogKey.error: "\(fault)"])
        context.daemon.journalWakeup.signal()
    }
}

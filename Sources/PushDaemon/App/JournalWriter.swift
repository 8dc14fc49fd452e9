import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// Writes an app's part of the journal.
///
/// When that fails the daemon ends, and the next one reads what the file has: until then nothing is taken, sent or told.
final class JournalWriter {
    private let context: AppContext
    private let suppression: SuppressionList
    /// Where the last record of this app ends.
    private(set) var lastRecord: JournalPosition?
    /// Whether the journal has failed.
    private(set) var isBroken = false

    init(_ context: AppContext, _ suppression: SuppressionList) {
        (self.context, self.suppression) = (context, suppression)
    }

    /// Adds a record; `write` or `sync` takes it to the file.
    func record(_ record: JournalRecord) {
        do throws(JournalFault) {
            lastRecord = try context.daemon.tenure.append(record)
        } catch {
            stop(error)
        }
    }

    /// Adds a job of which something was sent before.
    func adopt(_ header: JournalHeader, _ progress: JournalProgress) {
        do throws(JournalFault) {
            lastRecord = try context.daemon.tenure.adopt(header, progress)
        } catch {
            stop(error)
        }
    }

    /// Takes the records to the file, where the death of the process cannot reach them; what they say of tokens first.
    func write() {
        suppression.write()
        do {
            try context.daemon.tenure.write()
        } catch {
            stop(error)
        }
    }

    /// Waits until all records so far are durable.
    ///
    /// - Parameters:
    ///   - isPatient: Whether no sync is made for that alone.
    ///   - site: What is waited for.
    /// - Returns: `false` when they cannot be.
    func sync(isPatient: Bool = false, for site: SyncSite = .journal) async -> Bool {
        do {
            try await context.daemon.tenure.sync(isPatient: isPatient, for: site)
            return true
        } catch {
            stop(error)
            return false
        }
    }

    /// Ends the daemon after an error that says that files may not be what they seem: a sync that failed.
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
        context.daemon.journalBell.ring()
    }
}

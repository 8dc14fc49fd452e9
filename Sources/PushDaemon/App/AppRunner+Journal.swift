import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Adds a record to the journal; `writeJournal` or a sync takes it to the file.
    ///
    /// When that fails the daemon ends, and the next one reads what the file has: until then nothing is taken or told.
    func record(_ record: JournalRecord) {
        do throws(JournalFault) {
            lastRecord = try around.tenure.append(record)
        } catch {
            stopRecording(error)
        }
    }

    /// Adds a job of which something was sent before to the journal.
    func adopt(_ header: JournalHeader, _ progress: JournalProgress) {
        do throws(JournalFault) {
            lastRecord = try around.tenure.adopt(header, progress)
        } catch {
            stopRecording(error)
        }
    }

    /// Takes the records to the file, where the death of the process cannot reach them; what they say of tokens first.
    func writeJournal() {
        if gone != nil { writeGone() }
        do {
            try around.tenure.write()
        } catch {
            stopRecording(error)
        }
    }

    /// Returns when all records so far are durable; `false` when they cannot be. With patience no sync is made for that
    /// alone.
    func syncJournal(isPatient: Bool = false, for site: SyncSite = .journal) async -> Bool {
        do {
            try await around.tenure.sync(isPatient: isPatient, for: site)
            return true
        } catch {
            stopRecording(error)
            return false
        }
    }

    /// Ends the daemon after an error that says that files may not be what they seem: a sync that failed.
    func stopIfSyncFailed(_ error: any Error) {
        guard let error = error as? SystemError, error.isFailedSync else { return }
        around.journal.condemn(error)
        stopRecording(.broken(error))
    }

    private func stopRecording(_ fault: JournalFault) {
        guard !isBroken else { return }
        isBroken = true
        if case .full = fault { around.journal.condemn(SystemError.outOfSpace("append", "journal")) }
        logger.error("journal cannot be written", metadata: [LogKey.error: "\(fault)"])
        around.journalBell.ring()
    }
}

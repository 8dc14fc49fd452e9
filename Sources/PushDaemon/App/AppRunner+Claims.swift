import APNSGateway
import LinuxIO
import Logging
import SpoolStore

/// A job that was claimed and whose claim is not yet synced.
struct Claimed {
    let job: ClaimedJob
    let file: OpenJob
    let read: ReadJob
}

extension AppRunner {
    /// Makes the claims so far survive a power loss, all with one sync of the folders, and then begins to send.
    ///
    /// Producers seldom sync: without this a job can be claimed, sent in part, and then be empty or back in `new/`.
    func startClaims() {
        guard !claims.isEmpty else { return }
        let group = claims
        claims = []
        do {
            for claim in group { try claim.file.file.sync() }
            try spool.syncClaims()
        } catch {
            // A failed sync is final: what was read of these may not be what the disk has.
            unsyncedClaims += group.map(\.job)
            let hint = "check the disk; what is in work/ is read again every \(around.configuration.rescan)"
            let fault = GatewayFault("\(error)", hint: hint)
            claimFault = fault
            return logger.error("app stopped: claims cannot be synced", metadata: fault.metadata)
        }
        for claim in group { start(claim.job, claim.read) }
    }

    /// Opens the jobs anew whose claims could not be synced, syncs and reads them, and goes on when that is well.
    func takeUpUnsyncedClaims() async {
        guard claimFault != nil else { return }
        do {
            var group: [Claimed] = []
            for claimed in unsyncedClaims {
                if let claim = try await readAgain(claimed) { group.append(claim) }
            }
            try spool.syncClaims()
            (claimFault, unsyncedClaims) = (nil, [])
            logger.notice("claims are synced, and their jobs read again")
            for claim in group { start(claim.job, claim.read) }
        } catch {
            logger.debug("claims cannot be synced yet", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Returns `nil` for a job that somebody has taken away meanwhile.
    private func readAgain(_ claimed: ClaimedJob) async throws(SystemError) -> Claimed? {
        do {
            let job = try spool.open(claimed)
            try job.file.sync()
            let context = context(of: job, id: claimed.id, true)
            let (source, summary) = try await JobSource.open(job, context: context)
            let read = ReadJob(context: context, source: source, summary: summary, isSealed: true)
            return Claimed(job: claimed, file: job, read: read)
        } catch {
            guard error.isNotFound else { throw error }
            logger.error("job has vanished from work/", metadata: [LogKey.job: "\(claimed.name)"])
            return nil
        }
    }
}

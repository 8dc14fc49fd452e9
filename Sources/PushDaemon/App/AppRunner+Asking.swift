import APNSGateway
import APNSModel
import SpoolModel

extension AppRunner {
    /// Sees to it that a stopped app that asks again has something to ask with.
    ///
    /// What waits in the gateway comes first. If all of it pauses, a pause is broken off, once, since it may last longer
    /// than the time until the next stop; if that comes to nothing either, a job of `new/` may be taken.
    func prepareToAsk() async {
        mayAsk = false
        guard case .asking(let hasFreed) = standing.phase, claims.isEmpty, readable.isEmpty, freed.isEmpty,
            await !gateway.isAtWork, standing.phase == .asking(hasFreed: hasFreed)
        else { return }
        if !hasFreed {
            standing.phase = .asking(hasFreed: true)
            if await freePaused() { return }
        }
        mayAsk = true
    }

    /// Takes back what pauses of one job, so that the pump hands it out again. Whether there was any.
    private func freePaused() async -> Bool {
        for id in jobs.keys {
            let batches = await gateway.remove(id)
            guard !batches.isEmpty else { continue }
            sendAgain(batches)
            return true
        }
        return false
    }
}

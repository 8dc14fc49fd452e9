import Foundation
import TestSupport

// What an operator does.
extension Bench {
    /// Lets daemons finish, and releases what is held, until nothing is.
    ///
    /// A job that was being read in several deaths is suspected of them, and held; to release it is an operator's decision.
    /// All of it is sent then, whatever was before.
    func finishReleasing() async throws {
        try await finish()
        while setup.apps.contains(where: { !names(in: $0 + "/hold").isEmpty }) {
            for app in setup.apps { try releaseHeld(of: app) }
            try await finish()
        }
    }

    private func releaseHeld(of app: String) throws {
        for name in names(in: "\(app)/hold") {
            drops.release(name)
            report("released from hold/: \(name)")
            try FileManager.default.moveItem(
                atPath: "\(spool)/\(app)/hold/\(name)", toPath: "\(spool)/\(app)/new/\(name)")
        }
    }
}

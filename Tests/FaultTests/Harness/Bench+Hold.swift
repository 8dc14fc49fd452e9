import Foundation
import TestSupport
import Testing

// What an operator does.
extension Bench {
    /// Gives a command, to the daemon or, if none runs, without one.
    ///
    /// - Parameters:
    ///   - command: the command and its arguments.
    ///   - environment: what its environment has besides ours.
    ///   - codes: how it may end: by default also with some of several jobs refused.
    /// - Throws: what keeps it from being started; `NotInTime`.
    func give(
        _ command: [String], _ environment: [String: String] = [:], codes: Set<Int32> = [0, 1]
    ) async throws {
        let arguments = command + ["--config", home + "/etc/pushspool.yaml"]
        let child = try Child([try BuiltProgram.path] + arguments, environment: environment, logs: home + "/logs")
        let code = try await child.end()
        #expect(codes.contains(code), "\(command): \(code) \(child.log)")
        child.forget()
    }

    /// Whether a job of an app is held.
    func isHolding(_ app: String) -> Bool {
        names(in: app + "/hold").contains { !$0.hasSuffix(".rest") }
    }

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

import Foundation

/// The attribute of files that keeps even root from changing them (chattr(1)).
package enum Immutable {
    /// Whether it can be set here.
    package static let isPossible: Bool = {
        let path = NSTemporaryDirectory() + "pushspool-immutable-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        return FileManager.default.createFile(atPath: path, contents: nil) && set(true, path) && set(false, path)
    }()

    /// Sets it, or takes it away.
    ///
    /// - Returns: Whether that was done.
    package static func set(_ isImmutable: Bool, _ path: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/chattr")
        process.arguments = [isImmutable ? "+i" : "-i", path]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

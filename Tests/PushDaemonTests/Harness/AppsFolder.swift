import Configuration
import Document
import LinuxIO
import PushModel
import TestSupport

/// A configuration file with a folder for its apps, which has none yet.
struct AppsFolder {
    private let place: TemporaryDirectory
    /// The folder of the apps.
    let apps: Directory

    init() throws {
        place = try TemporaryDirectory()
        try place.directory.put("pushspool.yaml", "apps: apps\n")
        apps = try place.directory.makeChild(Array("apps".utf8), mode: 0o755)
    }

    /// Loads the configuration.
    var loader: ConfigurationLoader { ConfigurationLoader(path: place.path + "/pushspool.yaml") }

    /// Puts a file beside the apps' own.
    func put(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws {
        try apps.create(Array(name.utf8), mode: mode).write(bytes)
    }
}

extension ConfigurationSet {
    /// All findings, as they are printed.
    var lines: [String] {
        findings.flatMap { finding in finding.diagnostics.map { $0.rendered(file: finding.file) } }
    }
}

import LinuxIO
import SpoolModel

/// How to start the daemon on this host.
package enum DaemonStart {
    private static let units = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].map { "\($0)/systemd/system" }
    /// The configuration of the unit.
    private static let usualPath = "/etc/pushspool/pushspool.yaml"

    /// Returns the command that starts the daemon of a configuration: that of its unit, if systemd runs here and has one.
    package static func command(for path: String) -> String {
        command(
            for: path,
            hasUnit: exists("system", in: "/run/systemd") && units.contains { exists("pushspool.service", in: $0) })
    }

    static func command(for path: String, hasUnit: Bool) -> String {
        hasUnit && path == usualPath
            ? "systemctl start pushspool" : "pushspool run --config \(ShellWord.spelled(path))"
    }

    private static func exists(_ name: String, in folder: String) -> Bool {
        (try? Directory.open(path: folder).status(of: Array(name.utf8))) != nil
    }
}

package import LinuxIO
package import SpoolModel

/// The daemon's public files: its status, its apps and its metrics.
extension Spool {
    /// Replaces the status in one step. A crash may leave an older one.
    ///
    /// - Throws: `SystemError`: the volume is full or not writable. The old status is intact.
    package func publish(_ status: SpoolStatus) throws(SystemError) {
        try publish(status.json, as: SpoolStatus.fileName)
    }

    /// Replaces the list of apps in one step. A crash may leave an older one.
    ///
    /// - Throws: `SystemError`: as for the status.
    package func publish(_ list: AppList) throws(SystemError) {
        try publish(list.json, as: AppList.fileName)
    }

    /// Replaces the metrics, given as text, in one step. A crash may leave older ones.
    ///
    /// - Throws: `SystemError`: as for the status.
    package func publish(metrics text: [UInt8]) throws(SystemError) {
        try publish(text, as: SpoolMetrics.fileName)
    }

    /// Removes the status and the metrics.
    ///
    /// - Throws: `SystemError`: the volume is not writable.
    package func removeStatus() throws(SystemError) {
        let folder = try Self.makePublicDirectory(of: node, in: root)
        try folder.unlink(Array(SpoolStatus.fileName.utf8))
        try folder.unlink(Array(SpoolMetrics.fileName.utf8))
    }

    /// Whether there is a list of apps, which programs may have removed.
    ///
    /// - Throws: `SystemError`: it is unknown.
    package func hasPublishedApps() throws(SystemError) -> Bool {
        try Self.makePublicDirectory(of: node, in: root).status(of: Array(AppList.fileName.utf8)) != nil
    }

    private func publish(_ bytes: [UInt8], as name: String) throws(SystemError) {
        // A collector of `*.prom` files must not find an incomplete file.
        let folder = try Self.makePublicDirectory(of: node, in: root)
        try folder.replace(Array(name.utf8), by: Array(".\(name)~".utf8), mode: 0o644) {
            (file) throws(SystemError) in try file.write(bytes)
        }
    }
}

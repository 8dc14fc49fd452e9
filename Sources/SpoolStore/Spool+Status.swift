package import LinuxIO
package import SpoolModel

/// What the daemon says of itself, for all to read.
extension Spool {
    /// Replaces the status in one step. A crash may leave an older one.
    ///
    /// - Throws: `SystemError`: the volume is full, or may not be written to; the old one is still there.
    package func publish(_ status: SpoolStatus) throws(SystemError) {
        let (temporary, final) = (
            Array(("." + SpoolStatus.fileName).utf8), Array(SpoolStatus.fileName.utf8)
        )
        // Left by a crash; nobody else writes here.
        try publicDirectory.unlink(temporary)
        try publicDirectory.create(temporary, mode: 0o644).write(status.json)
        try publicDirectory.rename(temporary, to: publicDirectory, replacing: final)
    }

    /// Removes the status.
    ///
    /// - Throws: `SystemError`: the volume may not be written to.
    package func removeStatus() throws(SystemError) {
        try publicDirectory.unlink(Array(SpoolStatus.fileName.utf8))
    }
}

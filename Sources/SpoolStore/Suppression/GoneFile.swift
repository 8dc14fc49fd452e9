package import LinuxIO

/// The file of a log of gone tokens, for a caller that syncs it on another thread.
package final class GoneFile: Sendable {
    let file: OpenFile

    init(_ file: consuming OpenFile) {
        self.file = file
    }

    /// Makes the written records survive a power loss. Blocks.
    ///
    /// - Throws: `SystemError`: the records since the last sync may be lost. Their tokens will be sent to, and reported
    ///   gone, again.
    package func sync() throws(SystemError) {
        try file.syncData(.state)
    }
}

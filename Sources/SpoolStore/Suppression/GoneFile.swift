package import LinuxIO

/// The file of a log of tokens that are gone, for whoever syncs it on a thread of its own.
package final class GoneFile: Sendable {
    let file: OpenFile

    init(_ file: consuming OpenFile) {
        self.file = file
    }

    /// Makes what was written outlive the machine; blocks.
    ///
    /// - Throws: `SystemError`: what was written since the last time may be lost. Its tokens will be sent to again, and told
    ///   of again.
    package func sync() throws(SystemError) {
        try file.syncData(.state)
    }
}

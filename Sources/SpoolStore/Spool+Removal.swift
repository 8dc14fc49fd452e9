package import LinuxIO

extension Spool {
    /// Removes what is left of a node that has no jobs any more: its folders in `work/`, its status, its journal and the
    /// space that it had reserved. Nobody may use this object after that. Blocks.
    ///
    /// - Throws: `SystemError`: something is left, for example a file of another program in one of the folders.
    package func removeNode() throws(SystemError) {
        let name = Array(node.utf8)
        for app in try appNames() {
            try removingFolder(name) { () throws(SystemError) in
                try root.openChild(Array(app.utf8)).openChild(Array("work".utf8))
            }
        }
        let common = try root.openChild(Self.folderName)
        let published = try Self.makePublicDirectory(of: node, in: root)
        for file in try published.names() { try published.unlink(file) }
        try removingFolder(name) { () throws(SystemError) in try common.openChild(Array("public".utf8)) }
        // The journal is the last: without it, the folder is no node's.
        for file in try privateDirectory.names() where file != Journal.fileName { try privateDirectory.unlink(file) }
        try privateDirectory.unlink(Journal.fileName)
        try common.removeChild(name)
    }

    private func removingFolder(
        _ name: [UInt8], in parent: () throws(SystemError) -> Directory
    ) throws(SystemError) {
        do throws(SystemError) {
            try parent().removeChild(name)
        } catch {
            guard error.isNotFound else { throw error }
        }
    }
}

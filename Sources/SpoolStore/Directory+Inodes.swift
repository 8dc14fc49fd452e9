import JobFormat
import LinuxIO

extension [Directory] {
    /// Returns the names in these folders of the files with these inodes. Costs a listing of each folder, and a status call
    /// for every file if an inode is not found.
    ///
    /// - Throws: `SystemError`: a folder cannot be read.
    func names(of inodes: Set<UInt64>) throws(SystemError) -> [UInt64: Set<FileName>] {
        var found: [UInt64: Set<FileName>] = [:]
        // On stacked filesystems a listing may report other inodes than a status call.
        for looksClosely in [false, true] {
            for folder in self where found.count < inodes.count {
                var listing = try folder.listing()
                while let entry = try listing.next() {
                    let inode: UInt64? = try looksClosely ? folder.status(of: entry.name)?.inode : entry.inode
                    guard let inode, inodes.contains(inode), let name = FileName(bytes: entry.name) else { continue }
                    found[inode, default: []].insert(name)
                }
            }
        }
        return found
    }
}

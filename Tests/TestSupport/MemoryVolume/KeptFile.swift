import Foundation
package import LinuxIO

/// A file of a traced program that trees made real share with it: it keeps its inode and its time of modification, by
/// which the program knows it again.
package struct KeptFile: Sendable {
    let directory: Directory
    let name: [UInt8]
    let inode: UInt64
    private let path: String

    /// Keeps a file under a second name in a directory of the same filesystem that the program does not use.
    ///
    /// - Parameters:
    ///   - path: the file, which was modified at a whole second.
    ///   - directory: the directory, where the file must not be yet.
    /// - Throws: an error of Foundation's or `SystemError`: there is no such file, or it cannot get another name.
    package init(_ path: String, in directory: Directory) throws {
        let name = URL(filePath: path).lastPathComponent
        (self.directory, self.name, self.path) = (directory, Array(name.utf8), "\(directory.path)/\(name)")
        // Not a change of the traced program's.
        try FileManager.default.linkItem(atPath: path, toPath: self.path)
        inode = try directory.status(of: self.name)?.inode ?? 0
    }

    /// Gives it other bytes.
    ///
    /// - Throws: an error of Foundation's: it cannot be written.
    func write(_ bytes: [UInt8]) throws {
        let time = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] ?? Date.now
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
    }
}

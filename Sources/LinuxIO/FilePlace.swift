/// A path split into a directory and the name in it, as by dirname(1) and basename(1); a final slash leaves no name.
package struct FilePlace {
    /// The directory's path: `.` if the path is only a name.
    package let directory: String
    /// The last component; empty if the path ends with a slash.
    package let name: String

    /// Splits a path.
    package init(_ path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            (directory, name) = (".", path)
            return
        }
        directory = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[path.utf8.index(after: slash)...])
    }

    /// The bytes of the name.
    package var nameBytes: [UInt8] { Array(name.utf8) }
}

package import LinuxIO

/// The file by which a node asks for its journal back from the node that stands in for it: `.pushspool/<node>/return`.
///
/// Each request has another number, so that one that was given up, or was served, is not mistaken for a new one.
package struct ReturnRequest: Hashable, Sendable {
    private static let fileName = Array("return".utf8)
    private static let byteLimit = 32

    private let number: UInt64

    /// Publishes a request in a node's folder. Blocks.
    ///
    /// - Throws: `SystemError`: for example ENOSPC.
    static func publish(in directory: Directory) throws(SystemError) {
        let text = Array(String(UInt64.random(in: 0 ... .max)).utf8)
        try directory.replace(fileName, by: Array(".return~".utf8), mode: 0o600) { (file) throws(SystemError) in
            try file.write(text)
        }
    }

    /// Removes the request. Blocks.
    ///
    /// - Throws: `SystemError`: for example EIO.
    static func withdraw(in directory: Directory) throws(SystemError) {
        try directory.unlink(fileName)
    }

    /// Reads the request in a node's folder. Blocks.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: `SystemError`: for example EIO.
    package static func read(in directory: Directory) throws(SystemError) -> ReturnRequest? {
        let bytes = try directory.contentsIfThere(of: fileName, limit: byteLimit) ?? []
        return UInt64(String(decoding: bytes, as: UTF8.self)).map { ReturnRequest(number: $0) }
    }
}

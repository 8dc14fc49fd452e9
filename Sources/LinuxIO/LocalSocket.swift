import CLinux
import Glibc

/// A Unix domain socket that listens under a name in a directory, for programs on this host with permission to open it
/// (unix(7)).
///
/// Creating one blocks for the directory. `LocalListener` accepts its connections.
package final class LocalSocket: Sendable {
    let descriptor: Descriptor
    /// The socket's path, for messages.
    package let path: String
    private let directory: Directory
    private let name: [UInt8]
    /// The identity of the socket's file; `nil` if another process removed it at once.
    private let identity: FileIdentity?

    /// Who may connect.
    package struct Access: Hashable, Sendable {
        /// The permission bits; connecting requires write permission.
        package var mode: UInt32
        /// The group, if it differs from the process's group.
        package var group: UInt32?

        /// Creates access for the owner and a group.
        package init(mode: UInt32 = 0o660, group: UInt32? = nil) {
            (self.mode, self.group) = (mode, group)
        }
    }

    /// Listens under `name`, which must be free. No client can connect before the permissions are set.
    ///
    /// - Throws: `SystemError`: EADDRINUSE (the name is taken), EACCES, EROFS, or EPERM (the user is not in the group).
    package init(_ name: [UInt8], in directory: Directory, for access: Access) throws(SystemError) {
        let component = try ComponentName(name, for: "bind")
        let path = directory.subject(name)
        let number = clinux_stream_socket(AF_UNIX)
        guard number >= 0 else { throw .last("socket", path) }
        let descriptor = Descriptor(adopting: number)
        guard unsafe clinux_bind_local(number, directory.localPath(of: name)) == 0 else { throw .last("bind", path) }
        let identity = try directory.status(of: name)?.identity
        let folder = directory.descriptor.rawValue
        // Neither call follows a link, because other users with write permission to the folder could replace the name
        // with one.
        if let group = access.group {
            let status = unsafe component.withText {
                unsafe fchownat(folder, $0, uid_t.max, group, AT_SYMLINK_NOFOLLOW)
            }
            guard status == 0 else { throw .last("fchownat", path) }
        }
        let status = unsafe component.withText { unsafe fchmodat(folder, $0, access.mode, AT_SYMLINK_NOFOLLOW) }
        guard status == 0 else { throw .last("fchmodat", path) }
        guard listen(number, 128) == 0 else { throw .last("listen", path) }
        (self.directory, self.name, self.path, self.identity) = (directory, name, path, identity)
        self.descriptor = descriptor
    }

    /// Listens at a path. Replaces a name left by a dead process, but not one on which a process listens.
    ///
    /// - Parameters:
    ///   - path: absolute, in an existing folder.
    ///   - access: who may connect.
    /// - Throws: `SystemError`: EADDRINUSE (another process listens there, or it is not a socket), ENOENT (no such
    ///   folder), EACCES, ENAMETOOLONG.
    package convenience init(at path: String, for access: Access) throws(SystemError) {
        guard path.utf8.count <= LocalListener.pathByteLimit else {
            throw SystemError(code: ENAMETOOLONG, operation: "bind", subject: path)
        }
        let place = FilePlace(path)
        let directory = try Directory.open(path: place.directory)
        try Self.removeLeftover(place.nameBytes, in: directory)
        try self.init(place.nameBytes, in: directory, for: access)
    }

    /// Returns a second descriptor for the socket, for a library that accepts its connections.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package func duplicateDescriptor() throws(SystemError) -> Descriptor { try descriptor.duplicate() }

    /// Removes the socket's name, unless it belongs to another file by now. If that fails, the next process replaces it.
    package func removeName() {
        guard let identity, let status = try? directory.status(of: name), status.identity == identity else { return }
        _ = try? directory.unlink(name)
    }

    /// Whether clients still find this socket under its path.
    ///
    /// - Throws: `SystemError`: it is unknown, for example after EACCES or EIO.
    package func hasName() throws(SystemError) -> Bool {
        guard let identity, try FolderPlace.path(directory.path).leads(to: directory) else { return false }
        return try directory.status(of: name)?.identity == identity
    }

    /// Removes the name of a socket whose process has died. Keeps the file if it is not a socket, or if a process
    /// listens on it.
    ///
    /// - Throws: `SystemError`: the socket cannot be queried or removed.
    package static func removeLeftover(_ name: [UInt8], in directory: Directory) throws(SystemError) {
        guard try directory.status(of: name)?.kind == .socket, try !isAnswered(name, in: directory) else { return }
        try directory.unlink(name)
    }

    /// Whether a process listens under `name`. A process that dies leaves only the name.
    ///
    /// - Throws: `SystemError`: the socket cannot be queried.
    package static func isAnswered(_ name: [UInt8], in directory: Directory) throws(SystemError) -> Bool {
        let number = clinux_stream_socket(AF_UNIX)
        guard number >= 0 else { throw .last("socket") }
        let descriptor = Descriptor(adopting: number)
        let isConnected = unsafe clinux_connect_local(descriptor.rawValue, directory.localPath(of: name)) == 0
        if isConnected || errno == EAGAIN { return true }
        guard errno == ENOENT || errno == ECONNREFUSED else { throw .last("connect", directory.subject(name)) }
        return false
    }
}

extension Directory {
    /// Returns a path to the entry `name` that fits into a socket address, however long the path of the directory is.
    func localPath(of name: [UInt8]) -> String {
        let direct = path + "/" + String(decoding: name, as: UTF8.self)
        return direct.utf8.count < 100
            ? direct : "/proc/self/fd/\(descriptor.rawValue)/\(String(decoding: name, as: UTF8.self))"
    }
}

/// The process at the other end of a Unix domain socket.
package struct PeerProcess: Hashable, Sendable {
    /// Its process id when it connected.
    package let processID: Int32
    /// Its user id when it connected.
    package let userID: UInt32

    init?(_ descriptor: Int32) {
        var (process, user): (Int32, UInt32) = (0, 0)
        guard unsafe clinux_peer(descriptor, &process, &user) == 0 else { return nil }
        (processID, userID) = (process, user)
    }
}

extension StreamSocket {
    /// The process at the other end of a Unix domain socket; `nil` for other sockets.
    package var peerProcess: PeerProcess? { PeerProcess(channel.descriptor.rawValue) }
}

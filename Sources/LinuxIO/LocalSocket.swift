import CLinux
import Glibc

/// A Unix domain socket that listens under a name in a directory, for programs on this host that may open it (unix(7)).
///
/// Making one blocks for the directory; `LocalListener` accepts what connects.
package final class LocalSocket: Sendable {
    let descriptor: Descriptor
    /// Where it is, for messages.
    package let path: String
    private let directory: Directory
    private let name: [UInt8]
    /// Which file the name stands for; `nil` if somebody has removed it at once.
    private let identity: FileIdentity?

    /// Who may connect.
    package struct Access: Hashable, Sendable {
        /// The permission bits; to connect takes the right to write.
        package var mode: UInt32
        /// The group, if it is to be another than the process's.
        package var group: UInt32?

        /// Creates access for the owner and a group.
        package init(mode: UInt32 = 0o660, group: UInt32? = nil) {
            (self.mode, self.group) = (mode, group)
        }
    }

    /// Listens under `name`, which must be free. Nobody can connect before its permissions are as they are to be.
    ///
    /// - Throws: `SystemError`: EADDRINUSE (the name is taken), EACCES, EROFS, or EPERM (we are not in the group).
    package init(_ name: [UInt8], in directory: Directory, for access: Access) throws(SystemError) {
        let component = try ComponentName(name, for: "bind")
        let path = directory.subject(name)
        let number = clinux_stream_socket(AF_UNIX)
        guard number >= 0 else { throw .last("socket", path) }
        let descriptor = Descriptor(adopting: number)
        guard unsafe clinux_bind_local(number, directory.localPath(of: name)) == 0 else { throw .last("bind", path) }
        let identity = try directory.status(of: name)?.identity
        let folder = directory.descriptor.rawValue
        // Neither follows a link: who may write to the folder could put one in the name's place.
        if let group = access.group {
            let isSet = unsafe fchownat(folder, component.bytes, uid_t.max, group, AT_SYMLINK_NOFOLLOW) == 0
            guard isSet else { throw .last("fchownat", path) }
        }
        guard unsafe fchmodat(folder, component.bytes, access.mode, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw .last("fchmodat", path)
        }
        guard listen(number, 128) == 0 else { throw .last("listen", path) }
        (self.directory, self.name, self.path, self.identity) = (directory, name, path, identity)
        self.descriptor = descriptor
    }

    /// Removes its name, unless that stands for another file by now. What cannot be removed, the next takes over.
    func removeName() {
        guard let identity, let status = try? directory.status(of: name), status.identity == identity else { return }
        _ = try? directory.unlink(name)
    }

    /// Removes the name of a socket that a process has left which listened there. What is no socket stays, and what
    /// somebody listens on.
    ///
    /// - Throws: `SystemError`: it cannot be asked, or not be removed.
    package static func removeLeftover(_ name: [UInt8], in directory: Directory) throws(SystemError) {
        guard try directory.status(of: name)?.kind == .socket, try !isAnswered(name, in: directory) else { return }
        try directory.unlink(name)
    }

    /// Whether somebody listens under `name`: what a process leaves behind that has ended is only a name.
    ///
    /// - Throws: `SystemError`: what is there cannot be asked.
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
    /// A path to what is called `name` that fits into the address of a socket, however long the directory's own is.
    func localPath(of name: [UInt8]) -> String {
        let direct = path + "/" + String(decoding: name, as: UTF8.self)
        return direct.utf8.count < 100
            ? direct : "/proc/self/fd/\(descriptor.rawValue)/\(String(decoding: name, as: UTF8.self))"
    }
}

/// The process at the other end of a Unix domain socket.
package struct PeerProcess: Hashable, Sendable {
    /// Its number when it connected.
    package let processID: Int32
    /// The user that it acted as.
    package let userID: UInt32

    init?(_ descriptor: Int32) {
        var (process, user): (Int32, UInt32) = (0, 0)
        guard unsafe clinux_peer(descriptor, &process, &user) == 0 else { return nil }
        (processID, userID) = (process, user)
    }
}

extension StreamSocket {
    /// The process at the other end of a Unix domain socket; `nil` for any other.
    package var peerProcess: PeerProcess? { PeerProcess(channel.descriptor.rawValue) }
}

package import Document
package import LinuxIO
import YAML

/// Reads configuration files: in full, up to a size limit, with the path in every error.
package enum ConfigurationFile {
    /// The largest size of a configuration file.
    package static let byteLimit = 1 << 20

    /// The prefix of paths to files passed by the service manager (LoadCredential= of systemd.exec(5)).
    package static let credentialPrefix = "$CREDENTIALS_DIRECTORY/"

    /// Returns an absolute path unchanged, and resolves others against `folder`. Replaces `credentialPrefix` by the
    /// value of the environment variable if it is set.
    package static func resolve(_ path: String, in folder: String) -> String {
        if path.hasPrefix(credentialPrefix), let credentials = EnvironmentVariable.value("CREDENTIALS_DIRECTORY") {
            return credentials + "/" + path.dropFirst(credentialPrefix.count)
        }
        return path.hasPrefix("/") ? path : folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }

    /// Whether a name in the apps' folder is the name of an app's file.
    package static func isOfApp(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        name.first != UInt8(ascii: ".") && name.suffix(5).elementsEqual(".yaml".utf8)
    }

    /// Whether a name in the apps' folder almost names an app's file: it ends in `.yml`, or its suffix has capitals.
    package static func isNearlyOfApp(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        let text = String(decoding: name, as: UTF8.self).lowercased()
        guard !text.hasPrefix("."), !isOfApp(name) else { return false }
        return text.hasSuffix(".yml") || text.hasSuffix(".yaml")
    }

    /// The app to which a path or name of an app's file belongs: the name up to its last dot.
    package static func app(of path: String) -> String {
        let name = FilePlace(path).name
        return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
    }

    /// Reads a file of at most `limit` bytes. Follows symbolic links, since only the administrator writes the
    /// configuration.
    ///
    /// - Throws: `SystemError` if the file cannot be read; `Diagnostic` if it is larger, or not a regular file. Reading
    ///   a named pipe might never return.
    package static func read(_ path: String, limit: Int = byteLimit) throws -> (bytes: [UInt8], status: FileStatus) {
        let file = try OpenFile.open(path: path)
        let status = try file.status()
        guard status.kind == .regular else {
            throw Diagnostic("\(path) is a \(status.kind.rawValue)", hint: "give a regular file")
        }
        guard let bytes = try file.contents(limit: limit) else {
            throw Diagnostic("\(path) is longer than \(limit) bytes", hint: "check that this is the right file")
        }
        return (bytes, status)
    }

    /// Returns why a file must not hold a key or a password: somebody besides its owner may read it.
    ///
    /// The daemon's user or root must own it. The group may read root's file, as in a Secret of Kubernetes with `fsGroup`; nobody
    /// else may read it. Whoever runs as root does not know the daemon's user, and lets any user own it.
    ///
    /// - Parameters:
    ///   - status: The file's owner and mode.
    ///   - path: Its path.
    ///   - user: The user who reads it.
    /// - Returns: The fault with its remedy; `nil` if the file is safe.
    package static func exposure(of status: FileStatus, at path: String, to user: UInt32 = Host.userID) -> Diagnostic? {
        let isOfRoot = status.owner == 0
        guard isOfRoot || status.owner == user || user == 0 else {
            return Diagnostic(
                "\(path) belongs to \(Host.userText(status.owner)), who is neither root nor \(Host.userText(user))",
                hint: "chown \(user) \(path)")
        }
        guard status.mode & (isOfRoot ? 0o037 : 0o077) != 0 else { return nil }
        let mode = isOfRoot && user != 0 ? "640" : "600"
        return Diagnostic("\(path) can be read by group or others", hint: "chmod \(mode) \(path)")
    }

    /// Returns why somebody can put another file in the place of a file of credentials: who may write to a folder above it. In
    /// a sticky folder, such as `/tmp`, only the owners of files may. Blocks.
    ///
    /// - Parameters:
    ///   - path: The file's path, from the root.
    ///   - user: The user who reads it.
    /// - Returns: The fault with its remedy, of the folder next to the file; `nil` if there is none.
    /// - Throws: `SystemError`: a folder cannot be opened.
    package static func exposedFolder(above path: String, to user: UInt32) throws(SystemError) -> Diagnostic? {
        var (place, shown) = (FilePlace(path).directory, FilePlace(path).directory)
        var below: FileIdentity?
        while true {
            let status = try Directory.open(path: place).status()
            // The root is its own parent.
            guard status.identity != below else { return nil }
            guard [0, user].contains(status.owner) || user == 0 else {
                return Diagnostic(
                    "\(shown) belongs to \(Host.userText(status.owner)), who can put another file there",
                    hint: "move the file to a folder of root, such as that of pushspool.yaml")
            }
            guard status.mode & 0o022 == 0 || status.mode & 0o1000 != 0 else {
                return Diagnostic("\(shown) can be written by group or others", hint: "chmod go-w \(shown)")
            }
            // Not by its text: the path may have links.
            (below, place, shown) = (status.identity, place + "/..", FilePlace(shown).directory)
        }
    }

    /// Reads a file of credentials, which only certain users may read if it is secret: see `exposure`. Blocks.
    ///
    /// - Parameters:
    ///   - file: The path as configured; see `resolve`.
    ///   - folder: The folder that relative paths refer to.
    ///   - isSecret: Whether it has a key or a password.
    /// - Returns: The bytes. Overwrite them once a secret has been used.
    /// - Throws: `Diagnostic`: the file cannot be read, is longer than `byteLimit`, or others may read a secret. Only a warning
    ///   if the service manager passes it to another process, so that nothing is known of it.
    package static func readCredential(_ file: String, in folder: String, isSecret: Bool) throws(Diagnostic) -> [UInt8]
    {
        let path = resolve(file, in: folder)
        let isCredential = file.hasPrefix(credentialPrefix)
        if isCredential, EnvironmentVariable.value("CREDENTIALS_DIRECTORY") == nil {
            throw Diagnostic(
                "the environment variable CREDENTIALS_DIRECTORY is not set, so the file cannot be read here",
                hint: "pass the file with LoadCredential= in the unit; for a check, use systemd-run", severity: .warning
            )
        }
        do {
            let content = try read(path)
            // The service manager protects credentials by ACLs, which appear as group permissions in the mode.
            if isSecret, !isCredential, let fault = exposure(of: content.status, at: path) { throw fault }
            return content.bytes
        } catch {
            if let fault = error as? Diagnostic { throw fault }
            guard mayBePath(file, resolved: path) else {
                throw Diagnostic(
                    "names no file that can be read; the value is not shown, since it may be a secret",
                    hint: "write the path of a file here, not a key or passphrase itself")
            }
            throw fault(error, reading: path)
        }
    }

    /// Whether the value of a credential's field is a path, rather than a secret in its place: it has a known ending,
    /// or names a folder that exists.
    private static func mayBePath(_ file: String, resolved path: String) -> Bool {
        let endings = [".pem", ".p8", ".p12", ".pfx", ".key", ".crt", ".cer", ".txt", ".json"]
        if file.hasPrefix(credentialPrefix) || endings.contains(where: file.hasSuffix) { return true }
        guard file.dropFirst().contains("/"), let end = path.lastIndex(of: "/") else { return false }
        return (try? Directory.open(path: String(path[..<end]))) != nil
    }

    /// Reads and parses a YAML file. A file with only comments counts as an empty mapping. An empty file is an error,
    /// since it may have been truncated. `absent` is the hint to give if the file does not exist.
    ///
    /// - Throws: `Diagnostic`: the file cannot be read, or is not valid YAML.
    package static func parse(_ path: String, absent: String? = nil) throws(Diagnostic) -> Node {
        try load(path, absent: absent).root
    }

    /// The same with the file's owner and mode.
    ///
    /// - Throws: `Diagnostic`: the file cannot be read, or is not valid YAML.
    static func load(_ path: String, absent: String? = nil) throws(Diagnostic) -> (root: Node, status: FileStatus) {
        do {
            return try document(at: path)
        } catch {
            let isAbsent = (error as? SystemError)?.isNotFound == true
            if let absent, isAbsent { throw Diagnostic("\(error)", hint: absent) }
            throw error as? Diagnostic ?? fault(error, reading: path)
        }
    }

    /// The same for a file that may be missing.
    ///
    /// - Returns: `nil` if there is no such file.
    /// - Throws: `Diagnostic`: the file cannot be read, or is not valid YAML.
    static func parseIfPresent(_ path: String) throws(Diagnostic) -> Node? {
        do {
            return try document(at: path).root
        } catch {
            if (error as? SystemError)?.isNotFound == true { return nil }
            throw error as? Diagnostic ?? fault(error, reading: path)
        }
    }

    private static func document(at path: String) throws -> (root: Node, status: FileStatus) {
        let (bytes, status) = try read(path)
        return (try parse(bytes), status)
    }

    /// Parses the content of a YAML file.
    ///
    /// - Throws: `Diagnostic`: it is not valid YAML.
    static func parse(_ bytes: [UInt8]) throws(Diagnostic) -> Node {
        var parser = YAML.Parser()
        return try parser.parse(isAllComments(bytes) ? Array("{}".utf8) : bytes).root
    }

    private static func isAllComments(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty
            && bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).allSatisfy { line in
                let first = line.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
                return first == nil || first == UInt8(ascii: "#")
            }
    }

    /// The error message for a file that cannot be read.
    static func fault(_ error: any Error, reading path: String) -> Diagnostic {
        guard (error as? SystemError)?.isPermission == true else {
            return Diagnostic("\(error)", hint: "check the path and its permissions")
        }
        let user = Host.userID
        let remedy = "if that is the daemon's user, chown \(user) \(path); else run it as the daemon's user"
        return Diagnostic("\(error)", hint: "this runs as user \(Host.userText(user)): \(remedy)")
    }
}

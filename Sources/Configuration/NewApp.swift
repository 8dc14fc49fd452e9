package import Document
import LinuxIO
import OpenSSL
import SpoolModel

/// The file of an app that is added: made from its key file, and from what that does not tell.
package struct NewApp: Sendable {
    /// The app's name.
    package let name: String
    /// The path of the key file: a key for provider tokens, a certificate, or a service account.
    package let key: String
    /// The values of further keys, by their path in the app's file, such as `credentials.token.team_id`.
    package var values: [String: String] = [:]

    /// Creates an app with this name and key file.
    package init(name: String, key: String) { (self.name, self.key) = (name, key) }

    /// What a key file contains.
    private enum KeyKind {
        /// A private key that signs provider tokens.
        case token
        /// A certificate, with its key.
        case certificate
        /// A PKCS#12 container.
        case pkcs12
        /// The service account of an FCM project.
        case serviceAccount

        /// Whether it belongs to an FCM app.
        var isGoogles: Bool { self == .serviceAccount }

        /// Tells by the content, and for a container also by the suffix; `nil` for anything else.
        init?(_ bytes: [UInt8], name: String) {
            let text = String(decoding: bytes, as: UTF8.self)
            if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
                self = .serviceAccount
            } else if text.contains("-----BEGIN CERTIFICATE-----") {
                self = .certificate
            } else if text.isPEM {
                self = .token
            } else if bytes.first == 0x30, [".p12", ".pfx"].contains(where: name.lowercased().hasSuffix) {
                self = .pkcs12
            } else {
                return nil
            }
        }
    }

    /// Why no file was written.
    package struct Refused: Error {
        /// The faults: of the name, of the key file, or of a value, with its path in the app's file.
        package let diagnostics: [Diagnostic]
    }

    /// Writes the app's file. It may be read by all who may enter its folder, since it names the key and does not contain it.
    /// Blocks.
    ///
    /// - Parameter daemon: The configuration of the daemon that is to have the app.
    /// - Returns: The file's path, and the app as the daemon will load it, with the reader's warnings.
    /// - Throws: `Refused`: a fault of the input, or the file is there already; `SystemError`: the folder is not writable.
    ///   Nothing was written then.
    package func write(for daemon: DaemonConfiguration) throws -> (path: String, set: ConfigurationSet) {
        let (folder, path) = (daemon.apps, "\(daemon.apps)/\(name).yaml")
        let content: [UInt8]
        do throws(Diagnostic) {
            try checkName(in: folder)
            content = try makeContent(in: folder, of: readKey(for: daemon))
        } catch {
            throw Refused(diagnostics: [error])
        }
        let set = ConfigurationLoader(path: path).review(name, content, in: folder)
        guard set.apps[name] != nil else { throw Refused(diagnostics: set.findings.flatMap(\.diagnostics)) }
        do throws(SystemError) {
            try publish(content, in: try Directory.open(path: folder))
        } catch {
            guard error.isAlreadyThere else { throw error }
            throw Refused(diagnostics: [Self.exists(path)])
        }
        return (path, set)
    }

    private static func exists(_ path: String) -> Diagnostic {
        Diagnostic("\(path) exists", hint: "edit that file, or remove it first")
    }

    /// Refuses a name that no file may have or that is taken, before the key file is judged.
    private func checkName(in folder: String) throws(Diagnostic) {
        guard AppName.isValid(name) else {
            throw Diagnostic("\(Diagnostic.quoted(name)) is not a valid app name", hint: "use \(AppName.rule)")
        }
        let taken: FileStatus?
        do throws(SystemError) {
            taken = try Directory.open(path: folder).status(of: Array("\(name).yaml".utf8))
        } catch {
            throw Diagnostic("\(error)", hint: "create the folder, or set apps: to the folder of the apps' files")
        }
        if taken != nil { throw Self.exists("\(folder)/\(name).yaml") }
    }

    /// Reads the key file, which the daemon must be able to read, and nobody else.
    private func readKey(for daemon: DaemonConfiguration) throws(Diagnostic) -> KeyKind {
        var bytes: [UInt8]
        let status: FileStatus
        do {
            (bytes, status) = try ConfigurationFile.read(key)
        } catch {
            throw error as? Diagnostic ?? ConfigurationFile.fault(error, reading: key)
        }
        defer { Secret.erase(&bytes) }
        if let fault = exposure(status, to: daemon) { throw fault }
        if let kind = KeyKind(bytes, name: key) { return kind }
        throw Diagnostic(
            "\(key) is neither a key nor a certificate",
            hint:
                "give AuthKey_….p8 from Apple's developer site, a certificate as PEM or PKCS#12 (.p12), or the JSON file of "
                + "a service account")
    }

    /// The daemon's user owns its state. Without that folder it is who runs this.
    private func exposure(_ status: FileStatus, to daemon: DaemonConfiguration) -> Diagnostic? {
        let state = try? Directory.open(path: daemon.state).status()
        let user = state?.owner ?? Host.userID
        let fault = ConfigurationFile.exposure(of: status, at: key, to: user) ?? exposedFolder(to: user)
        if let fault { return fault }
        let isReadable = user == 0 || status.owner == user || status.group == state?.group && status.mode & 0o040 != 0
        guard !isReadable else { return nil }
        return Diagnostic(
            "\(key) cannot be read by the daemon's user, \(Host.userText(user))", hint: "chown \(user) \(key)")
    }

    /// Where somebody can replace the key that was judged.
    private func exposedFolder(to user: UInt32) -> Diagnostic? {
        let path = ConfigurationFile.resolve(key, in: Host.workingFolder ?? ".")
        do throws(SystemError) {
            return try ConfigurationFile.exposedFolder(above: path, to: user)
        } catch {
            return ConfigurationFile.fault(error, reading: key)
        }
    }

    // MARK: The content

    private func makeContent(in folder: String, of kind: KeyKind) throws(Diagnostic) -> [UInt8] {
        var lines = [
            "# Written by `pushspool app add`; for all keys see pushspool.yaml(5).",
            "protocol: \(Self.yaml(values["protocol"] ?? (kind.isGoogles ? "fcm" : "http2")))",
        ]
        for path in ["environment", "topic", "project"] {
            if let value = values[path] { lines.append("\(path): \(Self.yaml(value))") }
        }
        lines.append("credentials:")
        let file = Self.yaml(try keyPath(in: folder))
        switch kind {
        case .token:
            lines += ["  token:", "    key: \(file)"]
            let named = AppCredentials.keyIDInName(of: key)
            if let id = values["credentials.token.key_id"] ?? named { lines.append("    key_id: \(Self.yaml(id))") }
            if let team = values["credentials.token.team_id"] { lines.append("    team_id: \(Self.yaml(team))") }
        case .certificate: lines.append("  certificate: \(file)")
        case .pkcs12: lines.append("  pkcs12: \(file)")
        case .serviceAccount: lines.append("  service_account: \(file)")
        }
        try refuseUnused(kind)
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private func refuseUnused(_ kind: KeyKind) throws(Diagnostic) {
        guard kind != .token, let path = values.keys.sorted().first(where: { $0.hasPrefix("credentials.token.") })
        else { return }
        throw Diagnostic("only a key for provider tokens has one", hint: "remove it, or give an AuthKey_….p8").about(
            path)
    }

    /// The key's path in the app's file: its name if it is in the same folder, and otherwise from the root.
    private func keyPath(in folder: String) throws(Diagnostic) -> String {
        let place = FilePlace(key)
        let folders = [folder, place.directory].map { try? Directory.open(path: $0).status() }
        if let own = folders[0], let other = folders[1], (own.device, own.inode) == (other.device, other.inode) {
            return place.name
        }
        guard !key.hasPrefix("/") else { return key }
        guard let base = Host.workingFolder else {
            throw Diagnostic("\(key) is relative to a folder that is gone", hint: "give the path from the root")
        }
        return ConfigurationFile.resolve(key, in: base)
    }

    /// The text as a YAML scalar, in quotes unless it needs none.
    private static func yaml(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy(isPlain) && text.utf8.first != UInt8(ascii: "-")
        if isPlain, !text.isEmpty, text.lowercased() != "null" { return text }
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        // Digits and `-./`; letters; the underscore.
        case 0x2D...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        default: false
        }
    }

    /// Writes the file under another name first, so that a running daemon never reads a part of it.
    private func publish(_ content: [UInt8], in folder: Directory) throws(SystemError) {
        let (hidden, name) = (Array(".\(name).yaml.new".utf8), Array("\(name).yaml".utf8))
        try folder.unlink(hidden)
        try folder.write(content, toNew: hidden, mode: 0o644, for: .state)
        do throws(SystemError) {
            try folder.rename(hidden, to: folder, as: name)
        } catch {
            // The first error tells more than one of the removal.
            _ = try? folder.unlink(hidden)
            throw error
        }
        try folder.sync(.state)
    }
}

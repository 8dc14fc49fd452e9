package import Document
package import LinuxIO
import YAML

/// Reads configuration files: whole, bounded, and with their names in what goes wrong.
package enum ConfigurationFile {
    /// No configuration file is larger.
    package static let byteLimit = 1 << 20

    /// What the path of a file begins with that the service manager hands over (LoadCredential= of systemd.exec(5)).
    package static let credentialPrefix = "$CREDENTIALS_DIRECTORY/"

    /// Returns a path as it is if absolute, else as seen from `folder`; of `credentialPrefix` what the environment says, if it
    /// does.
    package static func resolve(_ path: String, in folder: String) -> String {
        if path.hasPrefix(credentialPrefix), let credentials = EnvironmentVariable.value("CREDENTIALS_DIRECTORY") {
            return credentials + "/" + path.dropFirst(credentialPrefix.count)
        }
        return path.hasPrefix("/") ? path : folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }

    /// The folder a file lies in: `.` for a bare name.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last component of a path.
    package static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Whether a name in the apps' folder is that of an app's file.
    package static func isOfApp(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        name.first != UInt8(ascii: ".") && name.suffix(5).elementsEqual(".yaml".utf8)
    }

    /// Whether a name in the apps' folder is nearly that of an app's file: it ends in `.yml`, or in capitals.
    package static func isNearlyOfApp(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        let text = String(decoding: name, as: UTF8.self).lowercased()
        guard !text.hasPrefix("."), !isOfApp(name) else { return false }
        return text.hasSuffix(".yml") || text.hasSuffix(".yaml")
    }

    /// The app that a path or name of such a file tells: what is in front of the last point.
    package static func app(of path: String) -> String {
        let name = name(of: path)
        return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
    }

    /// Reads a file of at most `limit` bytes. Follows symbolic links: the configuration is the administrator's.
    ///
    /// - Throws: `SystemError` when it cannot be read; `Diagnostic` when it is larger, or no regular file: a named pipe would
    ///   never end.
    package static func read(_ path: String, limit: Int = byteLimit) throws -> (bytes: [UInt8], status: FileStatus) {
        let file = try OpenFile.open(path: path)
        let status = try file.status()
        guard status.kind == .regular else {
            throw Diagnostic("\(path) is a \(status.kind.rawValue)", hint: "name a regular file")
        }
        guard let bytes = try file.contents(limit: limit) else {
            throw Diagnostic("\(path) is longer than \(limit) bytes", hint: "this is hardly the right file")
        }
        return (bytes, status)
    }

    /// Reads and parses a YAML file. One that has nothing but comments says what one without keys does; one without a byte is
    /// faulty, as it may have been cut. `absent` is what to do if it is not there.
    ///
    /// - Throws: `Diagnostic`: the file cannot be read, or is no YAML.
    package static func parse(_ path: String, absent: String? = nil) throws(Diagnostic) -> Node {
        do {
            var parser = YAML.Parser()
            let bytes = try read(path).bytes
            return try parser.parse(isAllComments(bytes) ? Array("{}".utf8) : bytes).root
        } catch let diagnostic as Diagnostic {
            throw diagnostic
        } catch let error as SystemError where error.isNotFound && absent != nil {
            throw Diagnostic("\(error)", hint: absent)
        } catch {
            throw fault(error, reading: path)
        }
    }

    private static func isAllComments(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty
            && bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).allSatisfy { line in
                let first = line.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
                return first == nil || first == UInt8(ascii: "#")
            }
    }

    /// What to tell of a file that cannot be read.
    static func fault(_ error: any Error, reading path: String) -> Diagnostic {
        guard (error as? SystemError)?.isPermission == true else {
            return Diagnostic("\(error)", hint: "check the path and its permissions")
        }
        let user = Host.userID
        let remedy = "if that is the daemon's, chown \(user) \(path); else run it as the daemon's"
        return Diagnostic("\(error)", hint: "this runs as user \(user): \(remedy)")
    }
}

import Configuration
import Document
import DoorModel
import LinuxIO
import OpenSSL

/// The files of an app that `provision` writes: its certificate with the key, and its configuration.
///
/// The daemon watches the folder. Calls block.
struct AppFiles {
    private let folder: Directory

    private static let certificateByteLimit = 1 << 20
    /// How a configuration begins that may be replaced.
    private static let mark = Array("# Written by pushspool-door for a client of pyapns.".utf8)

    /// Opens the folder of the apps' files.
    ///
    /// - Throws: `SystemError`: there is none.
    init(_ path: String) throws(SystemError) {
        folder = try Directory.open(path: path)
    }

    /// Writes what differs, the certificate first.
    ///
    /// - Throws: `DoorTrouble`: the certificate cannot be used; `SystemError`: a file cannot be written.
    func write(_ provision: Provision) throws {
        var pem = try Self.pem(of: provision.certificate)
        defer { Secret.erase(&pem) }
        do throws(TLSError) {
            _ = try Credentials.pem(certificate: pem)
        } catch {
            throw DoorTrouble("the certificate cannot be used: \(error.message)")
        }
        // Not a name that an operator would choose.
        let name = provision.app + ".door.pem"
        let own = Array((provision.app + ".yaml").utf8)
        if try folder.status(of: own) != nil,
            try folder.openRegular(own).contents(limit: Self.certificateByteLimit)?.starts(with: Self.mark) != true
        {
            throw DoorTrouble("\(provision.app).yaml was not written by a door; its operator can change it")
        }
        try write(pem, as: Array(name.utf8))
        let text = """
            \(String(decoding: Self.mark, as: UTF8.self))
            protocol: http2
            environment: \(provision.environment.rawValue)
            credentials: {certificate: \(Self.quoted(name))}

            """
        try write(Array(text.utf8), as: own)
    }

    private static func pem(of certificate: Provision.Certificate) throws -> [UInt8] {
        switch certificate {
        case .pem(let text): Array(text.utf8)
        case .path(let path):
            try ConfigurationFile.read(path, limit: certificateByteLimit).bytes
        }
    }

    /// Spells a string for YAML, which JSON is a part of.
    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(_ bytes: [UInt8], as name: [UInt8]) throws {
        if try folder.status(of: name) != nil,
            try folder.openRegular(name).contents(limit: Self.certificateByteLimit) == bytes
        {
            return
        }
        try folder.replace(name, with: bytes)
    }
}

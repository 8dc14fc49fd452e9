import Foundation
import GatewaySimulator
import LinuxIO
import OpenSSL
import TestSupport
import Testing

/// A set-up with one fault in it, and what the doctor must say of it first.
struct BrokenSetup: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Where it is found, and how bad it is.
    let area: String
    var severity = "fault"
    /// What the message has in it.
    var words: [String] = []
    /// What the remedy has in it.
    var remedy = ""
    /// Whether `check` finds it too.
    var isFoundByCheck = false
    /// What the gateway does wrong.
    var script = ""
    /// More of the doctor's command line, and what a shell does before it.
    var arguments: [String] = []
    var shell = ":"
    /// Makes it.
    let spoil: @Sendable (Bench) async throws -> Void

    init(_ what: String, in area: String, spoil: @escaping @Sendable (Bench) async throws -> Void) {
        testDescription = what
        self.area = area
        self.spoil = spoil
    }

    /// The same with what is to be said of it.
    func says(_ words: String..., remedy: String) -> BrokenSetup {
        with { ($0.words, $0.remedy) = (words, remedy) }
    }

    /// The same with other details.
    func with(_ change: (inout BrokenSetup) -> Void) -> BrokenSetup {
        var copy = self
        change(&copy)
        return copy
    }

    static let all = configuration + credentials + spool + gateway + host
}

extension BrokenSetup {
    /// A fault of a file of the configuration, which `check` finds too.
    private static func file(
        _ what: String, spoil: @escaping @Sendable (Bench) async throws -> Void
    ) -> BrokenSetup {
        BrokenSetup(what, in: "configuration", spoil: spoil).with { $0.isFoundByCheck = true }
    }

    static let configuration: [BrokenSetup] = [
        file("the daemon's file is no YAML") {
            try $0.write("etc/pushspool.yaml", "spool: [\nstate: x\n")
        }.says("pushspool.yaml:", remedy: " "),
        file("the daemon's file is missing") {
            try FileManager.default.removeItem(atPath: "\($0.path)/etc/pushspool.yaml")
        }.says("pushspool.yaml", "ENOENT", remedy: "check the path"),
        file("an app has an unknown key") {
            try $0.configureApp("weather", "conections: 2")
        }.says("weather.yaml:", "`conections`", remedy: "`connections`"),
        file("the folder of the apps' files is missing") {
            try FileManager.default.removeItem(atPath: "\($0.path)/etc/apps")
        }.says("etc/apps", "ENOENT", remedy: "create the folder"),
        file("an app's file ends in .yml") {
            let apps = "\($0.path)/etc/apps"
            try FileManager.default.moveItem(atPath: apps + "/weather.yaml", toPath: apps + "/weather.yml")
        }.says("weather.yml", "is ignored", remedy: "rename it to weather.yaml").with { $0.severity = "warn" },
        file("there is no app") {
            try FileManager.default.removeItem(atPath: "\($0.path)/etc/apps/weather.yaml")
        }.says("no app is configured", remedy: "<app>.yaml").with { $0.severity = "warn" },
        file("a key's name is too short") {
            try $0.configureModern()
            let text = try String(contentsOfFile: "\($0.path)/etc/apps/modern.yaml", encoding: .utf8)
            try $0.write("etc/apps/modern.yaml", text.replacing("key_id: ABC123DEFG", with: "key_id: ABC"))
        }.says("key_id", "`ABC`", remedy: "10 characters"),
    ]

    static let credentials: [BrokenSetup] = [
        file("the certificate's file is missing") {
            try $0.configureApp("weather", credentials: "credentials: {certificate: nowhere.pem}")
        }.says("nowhere.pem", "ENOENT", remedy: "check the path"),
        file("the key is a named pipe") {
            try await $0.tool("mkfifo", "-m", "600", "\($0.path)/etc/pipe")
            try $0.configureApp("weather", credentials: "credentials: {certificate: \($0.path)/etc/pipe}")
        }.says("/etc/pipe is a named pipe", remedy: "regular file"),
        file("the key is a folder") {
            try $0.configureApp("weather", credentials: "credentials: {certificate: \($0.path)/etc}")
        }.says("/etc is a directory", remedy: "regular file"),
        file("others can read the key") {
            try $0.use(try issue(), mode: 0o644)
        }.says("can be read by group or others", remedy: "chmod 600"),
        file("others can read the app's file, which has a password") {
            try $0.keepKey(try ThrowawayTokenKey().p8)
            try $0.configureModern("proxy: http://me:secret@127.0.0.1:1")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: "\($0.path)/etc/apps/modern.yaml")
        }.says("proxy: is in the file itself, and", "can be read by group or others", remedy: "chmod 600"),
        file("the key is not the certificate's") {
            let (one, other) = (try issue(), try issue())
            try $0.use(certificate: one.certificatePEM(), key: other.keyPEM())
        }.says("does not belong to certificate", remedy: "use the key"),
        file("the certificate has expired") {
            try $0.use(try issue { $0.validity = now - 90 * 86_400...now - 86_400 })
        }.says("expired on", remedy: "create a new push certificate"),
        file("the certificate is not valid yet") {
            try $0.use(try issue { $0.validity = now + 86_400...now + 90 * 86_400 })
        }.says("is not valid before", remedy: "clock"),
        file("the certificate is for the other environment") {
            try $0.use(try issue { $0.isForSandbox = false })
        }.says("only for production", remedy: "set environment"),
        file("the certificate is for another topic") {
            try $0.use(try issue(), "topic: com.example.other")
        }.says("not for topic com.example.other", remedy: "one of its topics"),
        file("the key is encrypted, without a passphrase") {
            let identity = try issue()
            let key = try identity.keyPEM(encryptedWith: Secret(Array("right".utf8)))
            try $0.use(certificate: identity.certificatePEM(), key: key)
        }.says("no passphrase is set", remedy: "passphrase_file"),
        file("the passphrase is wrong") {
            let identity = try issue()
            let key = try identity.keyPEM(encryptedWith: Secret(Array("right".utf8)))
            try $0.use(certificate: identity.certificatePEM(), key: key, passphrase: "wrong")
        }.says("passphrase does not open", remedy: "passphrase_file"),
        file("the key for tokens is an RSA key") {
            let key = "\($0.path)/etc/key.p8"
            try await $0.tool("openssl", "genpkey", "-algorithm", "RSA", "-out", key)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
            try $0.configureModern()
        }.says("its type is RSA", remedy: ".p8 file"),
        file("the key for tokens is encrypted") {
            let secret = Secret(Array("right".utf8))
            try $0.keepKey(try issue().keyPEM(encryptedWith: secret))
            try $0.configureModern()
        }.says("key for tokens is encrypted", remedy: "openssl pkcs8"),
    ]

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// A certificate for the app, of an authority of its own.
    private static func issue(_ change: (inout CertificatePlan) -> Void = { _ in }) throws -> IssuedIdentity {
        var plan = CertificatePlan.push(topic: "com.example.weather")
        change(&plan)
        return try CertificateAuthority().issue(plan)
    }
}

extension BrokenSetup {
    static let spool: [BrokenSetup] = [
        BrokenSetup("the spool is missing", in: "names") {
            try FileManager.default.removeItem(atPath: "\($0.path)/spool")
        }.says("/spool does not exist", remedy: "install -d"),
        BrokenSetup("an app's folder is a link", in: "names") {
            try $0.link("spool/weather", to: "staged")
        }.says("symbolic link", remedy: "create a folder"),
        BrokenSetup("a folder has no configuration", in: "names") {
            try $0.makeFolder("spool/wether/new")
        }.says("wether", remedy: "wether.yaml").with { $0.severity = "warn" },
        BrokenSetup("there is no app of that name", in: "names") { _ in }
            .says("no such app", remedy: "did you mean weather?").with { $0.arguments = ["wether"] },
        BrokenSetup("the state is open to others", in: "permissions") {
            try $0.makeFolder("state", 0o755)
        }.says("open to others", remedy: "chmod 700"),
        BrokenSetup("the state has nowhere to be", in: "permissions") {
            try $0.replace("etc/pushspool.yaml", "state: ../state", with: "state: ../no/state")
        }.says("cannot be created", remedy: "install -d"),
        BrokenSetup("new/ is read-only", in: "permissions") {
            try $0.makeAppFolders()
            try $0.makeFolder("spool/weather/new", 0o500)
        }.says("cannot take jobs out", remedy: "chmod 3770"),
        BrokenSetup("new/ keeps producers out", in: "permissions") {
            try $0.makeAppFolders()
            try $0.makeFolder("spool/weather/new", 0o700)
        }.says("producers", remedy: "chmod 3770").with { $0.severity = "warn" },
        BrokenSetup("new/ is a link", in: "permissions") {
            try $0.makeAppFolders()
            try FileManager.default.removeItem(atPath: "\($0.path)/spool/weather/new")
            try $0.link("spool/weather/new", to: "staged")
        }.says("/new is a symbolic link", remedy: "create a folder"),
        BrokenSetup("tmp/ is missing", in: "permissions") {
            try $0.makeAppFolders()
            try FileManager.default.removeItem(atPath: "\($0.path)/spool/weather/tmp")
        }.says("/tmp is missing", remedy: "mkdir -m 3770").with { $0.severity = "warn" },
        BrokenSetup("the volume is nearly full", in: "filesystem") {
            try $0.replace("etc/pushspool.yaml", "log:", with: "limits: {free_space: 900000GiB}\nlog:")
        }.says("no job is claimed", remedy: "free up space"),
        BrokenSetup("the journal is another node's", in: "daemon") {
            try await $0.makeJournal()
            try $0.replace("etc/pushspool.yaml", "node: node-a", with: "node: node-b")
            let own = "\($0.path)/spool/.pushspool/"
            try FileManager.default.moveItem(atPath: own + "node-a", toPath: own + "node-b")
        }.says("belongs to node node-a", remedy: ".pushspool/node-a/"),
        BrokenSetup("the journal is damaged", in: "daemon") {
            try $0.makeFolder("spool/.pushspool/node-a", 0o700)
            try $0.write("spool/.pushspool/node-a/journal", String(repeating: "x", count: 8192))
        }.says("damaged on its first page", remedy: "version"),
        BrokenSetup("no daemon runs", in: "daemon") { _ in }
            .says("no daemon is running as node node-a", remedy: "pushspool run").with { $0.severity = "warn" },
    ]

    static let gateway: [BrokenSetup] = [
        BrokenSetup("nothing listens", in: "gateway") {
            try $0.configureApp("weather", "gateway: localhost:1")
        }.says("cannot connect to the gateway localhost:1", "refused", remedy: "a server is running"),
        BrokenSetup("the name is unknown", in: "gateway") {
            try $0.configureApp("weather", "gateway: gateway.invalid:2195")
        }.says("look up gateway.invalid", remedy: "getent hosts"),
        BrokenSetup("the gateway speaks no TLS", in: "gateway") { _ in }
            .says("does not speak TLS", remedy: "host, port").with { $0.script = "fail-handshake by=junk" },
        BrokenSetup("the authority is unknown", in: "gateway") {
            let other = try CertificateAuthority(commonName: "Other")
            try $0.write("certificates/other.pem", String(decoding: try other.certificatePEM(), as: UTF8.self))
            try $0.configureApp("weather", "trust: \($0.path)/certificates/other.pem")
        }.says("not from a trusted authority", remedy: "`trust`"),
        BrokenSetup("the server has another name", in: "gateway") {
            try $0.configureApp("weather", "server_name: gateway.example")
        }.says("not for gateway.example", remedy: "server_name"),
        BrokenSetup("the gateway has no HTTP/2", in: "gateway") {
            try $0.keepKey(try ThrowawayTokenKey().p8)
            try $0.configureModern()
            try $0.replace(
                "etc/apps/modern.yaml", "localhost:\($0.simulator.ports.http2)",
                with: "localhost:\($0.simulator.ports.gateway)")
        }.says("does not speak HTTP/2", remedy: "binary"),
        BrokenSetup("the gateway refuses the certificate", in: "gateway") {
            try $0.use(try issue())
        }.says("refuses the app", remedy: "gateway"),
        BrokenSetup("the proxy is not there", in: "gateway") {
            try $0.keepKey(try ThrowawayTokenKey().p8)
            try $0.configureModern("proxy: http://me:secret@127.0.0.1:1")
        }.says("the proxy 127.0.0.1:1", remedy: "`proxy`"),
        BrokenSetup("the feedback service is not there", in: "gateway") {
            let gateway = "gateway: localhost:\($0.simulator.ports.gateway)"
            try $0.configureApp("weather", "\(gateway)\nfeedback_service: {gateway: localhost:1}")
        }.says("feedback service", remedy: "a server is running"),
    ]

    static let host: [BrokenSetup] = [
        BrokenSetup("files run out", in: "limits") { _ in }
            .says("open files (RLIMIT_NOFILE) is 64", remedy: "LimitNOFILE").with { $0.shell = "ulimit -n 64" }
    ]
}

extension Bench {
    /// Gives the app weather a certificate and its key.
    fileprivate func use(_ identity: IssuedIdentity, _ more: String = "", mode: Int = 0o600) throws {
        try use(certificate: identity.certificatePEM(), key: identity.keyPEM())
        try configureApp("weather", more, credentials: "credentials: {certificate: \(path)/etc/push.pem}")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path + "/etc/push.pem")
    }

    /// The same of parts that need not belong together.
    fileprivate func use(certificate: [UInt8], key: [UInt8], passphrase: String? = nil) throws {
        var words = ["certificate: \(path)/etc/push.pem"]
        try keep("push.pem", certificate + key)
        if let passphrase {
            try keep("secret", Array(passphrase.utf8))
            words.append("passphrase_file: \(path)/etc/secret")
        }
        try configureApp("weather", credentials: "credentials: {\(words.joined(separator: ", "))}")
    }

    private func keep(_ name: String, _ bytes: [UInt8]) throws {
        let file = "\(path)/etc/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    fileprivate func replace(_ file: String, _ old: String, with new: String) throws {
        let text = try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
        try #require(text.contains(old))
        try write(file, text.replacing(old, with: new))
    }

    /// Makes a folder, with all that are missing above it, and gives it a mode.
    fileprivate func makeFolder(_ name: String, _ mode: UInt32 = 0o755) throws {
        let folder = "\(path)/\(name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Directory.open(path: folder).setMode(mode)
    }

    /// Makes the folders of the app weather, as the daemon does.
    fileprivate func makeAppFolders() throws {
        let modes: [(String, UInt32)] = [
            ("new", 0o3770), ("tmp", 0o3770), ("hold", 0o750), ("done", 0o750), ("failed", 0o750), ("feedback", 0o2750),
            ("work", 0o700), ("work/node-a", 0o700),
        ]
        for (name, mode) in modes { try makeFolder("spool/weather/\(name)", mode) }
    }

    fileprivate func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/\(name)", withDestinationPath: "\(path)/\(target)")
    }

    /// Lets a daemon make its journal, and ends it.
    fileprivate func makeJournal() async throws {
        try await withDaemon { daemon in
            try await daemon.says("app started")
            #expect(try await daemon.stop() == 0)
        }
    }
}

import APNSHTTP2
import Document
import Gateways
import LinuxIO
import OpenSSL
import PushDaemon
import PushModel
import TestSupport
import Testing

@testable import Configuration

/// What an app's file says of its protocol, its gateway and its identity.
struct AppFileTests {
    private static let key = "token: {key: AuthKey_ABC123DEFG.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}"
    private static let http2 = "protocol: http2\nenvironment: sandbox\ntopic: com.example.weather\n"
    private static let protocols = "protocol: http2\nenvironment: sandbox\n"
    private static let binary = "protocol: binary\nenvironment: sandbox\n"
    private static let certificate = "credentials: {certificate: push.pem}\n"

    /// Reads the text of an app's file.
    static func read(_ text: String) throws -> (app: AppConfiguration, lines: [String]) {
        let folder = try TemporaryDirectory()
        try folder.directory.put("x.yaml", text)
        var report = Report()
        let app = AppConfiguration(
            name: "x", try ConfigurationFile.parse(folder.path + "/x.yaml"), report: &report)
        return (app, report.inOrder.map { $0.rendered(file: "x") })
    }

    @Test(arguments: [
        ("http2", "sandbox", "api.sandbox.push.apple.com:443"), ("http2", "production", "api.push.apple.com:443"),
        ("binary", "sandbox", "gateway.sandbox.push.apple.com:2195"),
        ("binary", "production", "gateway.push.apple.com:2195"),
    ])
    func `the gateway is that of protocol and environment`(wire: String, environment: String, gateway: String) throws {
        let file = "protocol: \(wire)\nenvironment: \(environment)\n" + Self.certificate
        let (app, lines) = try Self.read(file)
        #expect(lines.isEmpty && app.endpoint.description == gateway)
        let named = try Self.read(file + "gateway: push.example\n").app.endpoint
        #expect(named.address == HostPort(host: "push.example", port: app.endpoint.address.port))
    }

    @Test func `a provider token has a key and two names`() throws {
        let (app, lines) = try Self.read(Self.http2 + "credentials: {\(Self.key)}\n")
        #expect(lines.isEmpty)
        let name = try #require(ProviderIdentity(keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
        #expect(app.credentials.identity == .token(key: .file("AuthKey_ABC123DEFG.p8"), of: name))
        let text = "-----BEGIN PRIVATE KEY-----\\nx\\n-----END PRIVATE KEY-----\\n"
        let inline = try Self.read(
            Self.http2 + "credentials: {token: {key: \"\(text)\", key_id: ABC123DEFG, team_id: DEF123GHIJ}}\n")
        guard case .token(key: .text, of: _) = inline.app.credentials.identity else {
            Issue.record("\(inline)")
            return
        }
    }

    @Test(arguments: [
        (http2 + certificate + "gateway: \"a b:443\"", "x:5:10: error: gateway: must be host and port"),
        (
            http2 + certificate + "gateway: https://gateway.example",
            "hint: write host:port, such as localhost:443 or [::1]:2195, without https://"
        ),
        (
            http2 + certificate + "server_name: \"gateway.example \"",
            "x:5:14: error: server_name: `gateway.example ` is not the name of a host"
        ),
        (http2 + certificate + "server_name: gateway.example:443", "error: server_name: `gateway.example:443` is not"),
        (http2 + certificate + "channel_gateway: müller.example", "error: channel_gateway: must be host and port"),
        (
            protocols + "topic: \"com.example.app \"\n" + certificate,
            "x:3:8: error: topic: contains a space, which no bundle identifier has"
        ),
        (protocols + "topic: https://example.com\n" + certificate, "error: topic: contains `:`, which no"),
        (protocols + "topic: ABCDE12345.com.example\n" + certificate, "warning: topic: begins with what looks like"),
        (protocols + "topic: com.example.voip\n" + certificate, "warning: topic: ends in .voip, the suffix of"),
        (http2 + "credentials: {}", "x:4:14: error: credentials: needs exactly one of certificate, pkcs12 and token"),
        (
            http2 + "credentials: {certificate: a, \(key)}",
            "x:4:14: error: credentials: needs exactly one of certificate, pkcs12 and token"
        ),
        (
            binary + "credentials: {certificate: a, pkcs12: b}",
            "x:3:14: error: credentials: needs exactly one of certificate and pkcs12"
        ),
        (binary + "credentials: {\(key)}", "x:3:22: error: credentials.token: is for protocol: http2 only"),
        (http2 + "credentials: {\(key), key: k}", "error: credentials.key: is only for a certificate"),
        (
            http2 + "credentials: {\(key), passphrase_file: p}",
            "error: credentials.passphrase_file: cannot be combined with a token"
        ),
        (http2 + "credentials: {token: {key: k.p8}}", "error: credentials.token.key_id: is missing"),
        (
            http2 + "credentials: {token: {key: k.p8, key_id: ABC, team_id: DEF123GHIJ}}",
            "error: credentials.token.key_id: `ABC` is not a valid identifier"
        ),
        (
            http2 + "credentials: {token: {key: k.p8, key_id: ABC123DEFG, team_id: def123ghij}}",
            "error: credentials.token.team_id: `def123ghij` is not a valid identifier"
        ),
        (
            http2 + "credentials: {token: {key: d/AuthKey_ZZZ123DEFG.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}",
            "warning: credentials.token.key_id: is ABC123DEFG, but the key file is named after ZZZ123DEFG"
        ),
        (
            "protocol: http2\nenvironment: sandbox\ncredentials: {\(key)}\n",
            "warning: topic: is missing, and a provider token has none: jobs without a topic are refused"
        ),
        (http2 + certificate + "binary: {window: 5}", "x:5:9: error: binary: is for protocol: binary only"),
        (
            http2 + certificate + "feedback_service: {every: 1h}",
            "error: feedback_service: is for protocol: binary only"
        ),
        (binary + certificate + "window: 5", "x:4:9: error: window: is not for protocol: binary"),
        (http2 + certificate + "window: 0", "x:5:9: error: window: 0 is out of range"),
        (http2 + certificate + "doubt: {limit: 0}", "x:5:16: error: doubt.limit: 0 is out of range"),
        (binary + certificate + "doubt: {limit: 5}", "warning: doubt: has no effect with protocol: binary"),
        (binary + certificate + "proxy: http://p:1", "error: proxy: is not for protocol: binary"),
        (
            binary + certificate + "retry: {later: 1m}",
            "warning: retry: `later` has no effect with protocol: binary"
        ),
        (http2 + certificate + "retry: {later: 2h}", "error: retry.later: 7200.0 seconds is out of range"),
        (
            http2 + certificate + "retry: {server_error: 1h, ceiling: 30m}",
            "error: retry.server_error: is longer than `ceiling`"
        ),
        ("protocol: http3\n" + certificate, "error: protocol: must be `http2` or `binary` or `fcm` (got `http3`)"),
    ])
    func `what is wrong is named, at its place`(text: String, line: String) throws {
        let lines = try Self.read(text + "\n").lines
        #expect(lines.contains { $0.contains(line) }, "\(lines)")
    }

    @Test func `windows and doubt are the contract's unless they are named`() throws {
        let plain = try Self.read(Self.http2 + Self.certificate).app
        #expect(plain.requests?.window == 1000 && plain.requests?.doubtLimit == 3)
        let (app, lines) = try Self.read(Self.http2 + Self.certificate + "window: 70\ndoubt: {limit: 1}\n")
        #expect(lines.isEmpty && app.requests?.window == 70 && app.requests?.doubtLimit == 1)
    }

    @Test(arguments: ["# only a note\n", "\n", "  # a\r\n\t# b\n\n", "#"])
    func `a file of comments says what one without keys does`(text: String) throws {
        #expect(try Self.read(text).lines == (try Self.read("{}")).lines)
    }

    @Test func `a file without a byte is faulty`() {
        #expect(throws: Diagnostic.self) { try Self.read("") }
    }

    @Test func `a key that is put where it does not belong is not printed`() throws {
        let key = try ThrowawayTokenKey().p8
        let lines = String(decoding: key, as: UTF8.self).split(separator: "\n").dropFirst().dropLast()
        let body = lines.joined(separator: "")
        let names = "key_id: ABC123DEFG, team_id: DEF123GHIJ"
        for (credentials, words) in [
            ("{token: {key: \(body), \(names)}}", "credentials.token.key: is the text of a key"),
            ("{certificate: \(body)}", "credentials.certificate: is the text of a key"),
            ("{pkcs12: \(body)}", "credentials.pkcs12: is the text of a key"),
            ("{certificate: push.pem, passphrase_file: \(lines[2])}", "passphrase_file: is the text of a key"),
            ("\(body)", "credentials: expected a mapping"),
            ("{certificate: push.pem}\ntrust: \(body)", "trust: is the text of a key"),
            ("{certificate: push.pem}\nserver_name: \(body)", "server_name: `…` (184 bytes, not shown"),
            ("{certificate: push.pem}\non_doubt: \(lines[2])", "on_doubt: must be"),
            ("{certificate: push.pem}\n\(body): 1", "is unknown"),
            ("{token: {key: k.p8, key_id: \(body), team_id: DEF123GHIJ}}", "is not a valid identifier"),
        ] {
            let found = try Self.read(Self.http2 + "credentials: \(credentials)\n").lines
            #expect(found.contains { $0.contains(words) }, "\(found)")
            for line in lines { #expect(!found.joined().contains(line.prefix(8))) }
        }
        let path = "a/long/path/that/is/not/base64/because/of/its/ending/AuthKey_ABC123DEFG.p8"
        let app = try Self.read(Self.http2 + "credentials: {token: {key: \(path), \(names)}}\n").app
        let name = try #require(ProviderIdentity(keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
        #expect(app.credentials.identity == .token(key: .file(path), of: name))
    }

    @Test(arguments: ["Tr0ub4dor zebra", "zebra", "zebra/horse", "/zebra"])
    func `a passphrase in the place of a path is not printed`(text: String) throws {
        let folder = try TemporaryDirectory()
        let fault = #expect(throws: Diagnostic.self) {
            try ConfigurationFile.readCredential(text, in: folder.path, isSecret: true)
        }
        #expect(fault?.description.contains("zebra") == false && fault?.hint != nil, "\(fault as Any)")
        for path in ["missing.pem", "\(folder.path)/missing"] {
            let fault = #expect(throws: Diagnostic.self) {
                try ConfigurationFile.readCredential(path, in: folder.path, isSecret: true)
            }
            #expect(fault?.description.contains("missing") == true)
        }
    }

    @Test func `a file without a protocol is not told what the other one lacks`() throws {
        let (_, lines) = try Self.read(
            "environment: sandbox\n" + Self.certificate + "binary: {window: 5}\nproxy: http://p:1\n")
        #expect(lines.count == 1 && lines[0].contains("protocol: is missing"), "\(lines)")
    }

    @Test func `the pauses are the contract's unless they are named`() throws {
        let standard = try Self.read(Self.http2 + Self.certificate).app
        #expect(standard.requests?.retryLater == .seconds(30) && standard.requests?.retryServerError == .seconds(900))
        #expect(standard.retryCeiling == .seconds(14_400))
        let own = try Self.read(Self.http2 + Self.certificate + "retry: {later: 5s, server_error: 1m, ceiling: 2m}").app
        #expect(own.requests?.retryLater == .seconds(5) && own.requests?.retryServerError == .seconds(60))
        let short = try Self.read(Self.http2 + Self.certificate + "retry: {ceiling: 10s}").app
        #expect(short.requests?.retryLater == .seconds(10) && short.requests?.retryServerError == .seconds(10))
    }

    @Test(arguments: [("5000/s", 5000, Rate.Unit.second), ("90/m", 90, .minute), ("1/h", 1, .hour)])
    func `a rate is a number in a unit of time`(text: String, count: Int, unit: Rate.Unit) throws {
        let (app, lines) = try Self.read(Self.http2 + Self.certificate + "rate: \(text)\n")
        #expect(lines.isEmpty && app.rate == Rate(count, per: unit) && app.rate != nil)
    }

    @Test(arguments: ["5000", "0/s", "-1/s", "1.5/s", "5/d", "5/s/s", "/s", "fast", "10000001/s", "[5]"])
    func `another rate is refused, with one that is none`(text: String) throws {
        let (app, lines) = try Self.read(Self.http2 + Self.certificate + "rate: \(text)\n")
        #expect(app.rate == nil && lines.count == 1 && lines[0].contains("error: rate: "), "\(lines)")
        #expect(lines[0].contains("such as 5000/s"), "\(lines)")
    }

    @Test(arguments: [
        ("http://proxy.example:3128", "proxy.example:3128"), ("http://[::1]:80/", "[::1]:80"),
        ("http://me:secret@proxy:8080", "me@proxy:8080"), ("http://me%40home:p%3Aw@proxy:8080", "me@home@proxy:8080"),
    ])
    func `a proxy is named by its URL, and printed without its password`(url: String, text: String) throws {
        let (app, lines) = try Self.read(Self.http2 + Self.certificate + "proxy: \"\(url)\"\n")
        #expect(lines.isEmpty && app.requests?.proxy.map { "\($0)" } == text)
    }

    @Test(arguments: [
        "proxy:3128", "https://me:secret@proxy:443", "http://me:secret@proxy", "http://me:secret%2@proxy:1",
        "http://:secret@proxy:1", "http://me:secret@proxy:1/path", "http://", "http://me:secret@",
    ])
    func `a proxy that cannot be read is refused, and nothing of it is told`(url: String) throws {
        let (app, lines) = try Self.read(Self.http2 + Self.certificate + "proxy: \"\(url)\"\n")
        #expect(app.requests?.proxy == nil && lines.count == 1 && lines[0].contains("error: proxy: "), "\(lines)")
        #expect(!lines[0].contains("secret"), "\(lines)")
    }
}

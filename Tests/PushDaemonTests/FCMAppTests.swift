import Document
import Gateways
import LinuxIO
import PushDaemon
import PushModel
import ServiceProcess
import SpoolModel
import TestSupport
import Testing

@testable import Configuration

/// Apps over FCM: what is made of their files, and what `check` says of them.
struct FCMAppTests {
    private static let fcm = "protocol: fcm\ncredentials: {service_account: a.json}\n"

    @Test func `an app's defaults are FCM's`() throws {
        let (app, lines) = try AppFileTests.read(Self.fcm)
        #expect(lines.isEmpty && app.endpoint.description == "fcm.googleapis.com:443" && app.environment == nil)
        #expect(app.connections == 4 && app.rate == Rate(9000, per: .second) && app.retryCeiling == .seconds(3600))
        let requests = try #require(app.requests)
        #expect(requests.window == 100 && requests.retryLater == .seconds(60))
        #expect(requests.retryServerError == .seconds(10) && app.credentials.identity == .serviceAccount("a.json"))
        #expect(app.carrier == .fcm && app.fcm?.unknownFields == .refuse && app.fcm?.project == nil)
    }

    @Test func `every key of an app is read`() throws {
        let (app, lines) = try AppFileTests.read(
            Self.fcm + "project: \"123456789012\"\nconnections: 16\nrate: null\nwindow: 50\nunknown_fields: warn\n"
                + "gateway: localhost:8443\ntoken_gateway: localhost:8444\nproxy: http://p:1\n"
                + "retry: {later: 1m, server_error: 1m, ceiling: 1m}\n")
        #expect(lines.isEmpty && app.fcm?.project == "123456789012" && app.connections == 16 && app.rate == nil)
        #expect(app.requests?.window == 50 && app.fcm?.unknownFields == .warn && app.endpoint.address.port == 8443)
        #expect(app.fcm?.tokenEndpoint?.description == "localhost:8444" && app.requests?.proxy != nil)
        #expect(app.requests?.retryServerError == .seconds(60) && app.retryCeiling == .seconds(60))
    }

    @Test(arguments: [
        (fcm + "environment: sandbox", "x:3:14: error: environment: is not for protocol: fcm"),
        (fcm + "topic: com.example.weather", "x:3:8: error: topic: is not for protocol: fcm"),
        (fcm + "binary: {window: 5}", "x:3:9: error: binary: is for protocol: binary only"),
        (fcm + "feedback_service: {}", "error: feedback_service: is for protocol: binary only"),
        (fcm + "channels: {a: dHN0LXNyY2gtY2hubA==}", "error: channels: is for protocol: http2 only"),
        (fcm + "channel_gateway: a:1", "error: channel_gateway: is for protocol: http2 only"),
        (fcm + "broadcast_gateway: a:1", "error: broadcast_gateway: is for protocol: http2 only"),
        (fcm + "connections: 17", "error: connections: 17 is out of range"),
        (fcm + "window: 101", "error: window: 101 is out of range"),
        (fcm + "project: a/b", "error: project: `a/b` is not a project's id or number"),
        (fcm + "unknown_fields: warns", "error: unknown_fields: must be `refuse` or `warn`"),
        (fcm + "token_gateway: https://a", "error: token_gateway: must be host and port"),
        (fcm + "retry: {ceiling: 30s, later: 1m}", "error: retry.later: is longer than `ceiling`"),
        ("protocol: fcm\n", "error: credentials: is missing"),
        ("protocol: fcm\ncredentials: {}\n", "error: credentials.service_account: is missing"),
        (
            "protocol: fcm\ncredentials: {service_account: a.json, certificate: a.pem}",
            "error: credentials.certificate: is not for protocol: fcm"
        ),
        (
            "protocol: fcm\ncredentials: {token: {key: k.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}",
            "error: credentials.token: is not for protocol: fcm"
        ),
        (
            "protocol: http2\nenvironment: sandbox\ncredentials: {service_account: a.json}",
            "error: credentials.service_account: is for protocol: fcm only"
        ),
        (
            "protocol: http2\nenvironment: sandbox\ncredentials: {certificate: a.pem}\nproject: a",
            "error: project: is for protocol: fcm only"
        ),
        (
            "protocol: binary\nenvironment: sandbox\ncredentials: {certificate: a.pem}\ntoken_gateway: a",
            "error: token_gateway: is for protocol: fcm only"
        ),
        (
            "protocol: http2\nenvironment: sandbox\ncredentials: {certificate: a.pem}\nunknown_fields: warn",
            "error: unknown_fields: is for protocol: fcm only"
        ),
    ])
    func `what is wrong is named, with a hint`(text: String, line: String) throws {
        let lines = try AppFileTests.read(text + "\n").lines
        let found = try #require(lines.first { $0.contains(line) }, "\(lines)")
        #expect(found.contains("\nhint: "), "\(found)")
    }
}

/// What is made of a service account's file.
struct ServiceAccountLoadingTests {
    private let folder: AppsFolder

    init() throws { folder = try AppsFolder() }

    private func load(_ more: String = "", at now: WallTime = .now) throws -> ConfigurationSet {
        let text = "protocol: fcm\ncredentials: {service_account: weather-adminsdk.json}\n\(more)\n"
        try folder.put("weather.yaml", Array(text.utf8))
        return folder.loader.load(at: now)
    }

    @Test func `an app has the project of its service account`() throws {
        try folder.put("weather-adminsdk.json", ThrowawayServiceAccount().file)
        let set = try load()
        let app = try #require(set.apps["weather"], "\(set.lines)")
        #expect(
            app.summary
                == "project weather-4711 at fcm.googleapis.com:443 over fcm, access token of service account "
                + "sender@weather-4711.iam.gserviceaccount.com")
        #expect(set.lines.isEmpty && app.topic == nil && app.proof == nil)
    }

    @Test func `a project of the app's own counts, and changes its identity`() throws {
        try folder.put("weather-adminsdk.json", ThrowawayServiceAccount().file)
        let other = try #require(try load("project: other-1").apps["weather"])
        #expect(other.project == "other-1" && other.summary.hasPrefix("project other-1 at "))
    }

    @Test func `the list of apps claims nothing of Apple's`() throws {
        try folder.put("weather-adminsdk.json", ThrowawayServiceAccount().file)
        let listed = try #require(try load().apps["weather"]).listed
        #expect(listed.carrier == .fcm && listed.isSandbox == nil && listed.identity == nil && listed.topic == nil)
    }

    @Test func `another token endpoint needs an app that names one`() throws {
        var account = try ThrowawayServiceAccount()
        account.tokenURI = "https://localhost:8444/token"
        try folder.put("weather-adminsdk.json", account.file)
        let text = try load().lines.joined()
        #expect(text.contains("credentials.service_account: `token_uri` `https://localhost:8444/token` is not at"))
    }

    @Test func `an app that names the token endpoint may have any`() throws {
        var account = try ThrowawayServiceAccount()
        account.tokenURI = "https://localhost:8444/token"
        try folder.put("weather-adminsdk.json", account.file)
        let set = try load("token_gateway: localhost:8444")
        #expect(set.apps["weather"] != nil && set.lines.isEmpty, "\(set.lines)")
    }

    /// What is wrong with a file, and what has to be said of it.
    enum Fault: String, CaseIterable {
        case missing, readableByOthers, otherFile, badKey

        var words: [String] {
            switch self {
            case .missing: ["weather-adminsdk.json", "ENOENT"]
            case .readableByOthers: ["can be read by group or others", "chmod 600"]
            case .otherFile: ["google-services.json", "Firebase console"]
            case .badKey: ["`private_key` is not PEM text", "Firebase console"]
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `a file that cannot be used is named with the remedy`(fault: Fault) throws {
        let name = "weather-adminsdk.json"
        let good = try ThrowawayServiceAccount().file
        switch fault {
        case .missing: break
        case .readableByOthers: try folder.put(name, good, mode: 0o644)
        case .otherFile: try folder.put(name, Array(#"{"project_info": {}, "client": []}"#.utf8))
        case .badKey:
            let text = String(decoding: good, as: UTF8.self)
            try folder.put(
                name, Array(text.replacing("PRIVATE KEY-----\\n", with: "\\n").replacing("-----", with: "").utf8))
        }
        let set = try load()
        #expect(set.brokenApps == ["weather"] && set.apps.isEmpty)
        let text = set.lines.joined(separator: "\n")
        #expect(text.contains("credentials.service_account: ") && text.contains("hint: "), "\(text)")
        for word in fault.words { #expect(text.contains(word), "\(text)") }
    }

    @Test func `a clock that was never set is a warning`() throws {
        try folder.put("weather-adminsdk.json", ThrowawayServiceAccount().file)
        let set = try load(at: WallTime(epochSeconds: 1_000_000))
        let line = try #require(set.lines.first)
        #expect(line.contains("warning: credentials.service_account: this machine's clock says 1970-01-12"))
        #expect(set.apps["weather"] != nil && line.contains("hint: set the clock"))
    }
}

import Foundation
import GatewaySimulator
import LinuxIO
import PushDaemon
import TestSupport
import Testing

@testable import Configuration

struct ConfigurationTests {
    /// An app's sample, and what it says that is no default.
    enum Sample: String, CaseIterable {
        case weather, legacy

        var required: String {
            switch self {
            case .weather:
                """
                protocol: http2
                environment: sandbox
                topic: com.example.weather
                credentials: {token: {key: AuthKey_ABC123DEFG.p8, key_id: ABC123DEFG, team_id: DEF123GHIJ}}

                """
            case .legacy:
                """
                protocol: binary
                environment: sandbox
                topic: com.example.legacy
                credentials: {certificate: legacy.pem}

                """
            }
        }
    }

    @Test func `the sample configuration is accepted without a word`() throws {
        let folder = try TemporaryDirectory()
        try folder.directory.put("pushspool.yaml", try Manual.text("etc/pushspool.yaml"))
        let apps = try folder.directory.makeChild(Array("apps".utf8), mode: 0o755)
        try Self.putCredentials(into: apps)
        for sample in Sample.allCases {
            try apps.put("\(sample).yaml", try Manual.text("etc/apps/\(sample).yaml.sample"))
        }
        let set = ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
        #expect(set.findings.isEmpty, "\(set.findings)")
        #expect(set.apps.keys.sorted() == ["legacy", "weather"])
    }

    @Test(arguments: Sample.allCases)
    func `a sample app says what the defaults are`(sample: Sample) throws {
        let folder = try TemporaryDirectory()
        try Self.putCredentials(into: folder.directory)
        try folder.directory.put("pushspool.yaml", "apps: .\n")
        var apps: [AppConfiguration] = []
        for text in [try Manual.text("etc/apps/\(sample).yaml.sample"), sample.required] {
            try folder.directory.unlink(Array("\(sample).yaml".utf8))
            try folder.directory.put("\(sample).yaml", text)
            let set = ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
            apps.append(try #require(set.apps[sample.rawValue]).configuration)
        }
        #expect(apps[0] == apps[1])
    }

    /// Puts what the samples name: a certificate with its key, and a key alone.
    static func putCredentials(into folder: Directory) throws {
        let client = try #require(try Certificates.throwaway(topic: "com.example.legacy").client)
        try folder.create(Array("legacy.pem".utf8), mode: 0o600).write(client)
        let key = try #require(client.firstRange(of: Array("-----BEGIN PRIVATE KEY".utf8)))
        try folder.create(Array("AuthKey_ABC123DEFG.p8".utf8), mode: 0o600).write(Array(client[key.lowerBound...]))
    }
}

import GatewaySimulator
import LinuxIO
import PushDaemon
import TestSupport
import Testing

struct ConfigurationTests {
    @Test func `the sample configuration is accepted without a word`() throws {
        let folder = try TemporaryDirectory()
        try folder.directory.put("pushspool.yaml", try Manual.text("etc/pushspool.yaml"))
        let apps = try folder.directory.makeChild(Array("apps".utf8), mode: 0o755)
        try apps.put("weather.yaml", try Manual.text("etc/apps/weather.yaml.sample"))
        let client = try #require(try Certificates.throwaway().client)
        try apps.create(Array("weather.pem".utf8), mode: 0o600).write(client)
        let set = ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
        #expect(set.findings.isEmpty, "\(set.findings)")
        #expect(Array(set.apps.keys) == ["weather"])
    }

    @Test func `the sample app says what the defaults are`() throws {
        let folder = try TemporaryDirectory()
        let sample = try Manual.text("etc/apps/weather.yaml.sample")
        let required = """
            protocol: binary
            environment: sandbox
            topic: com.example.weather
            credentials: {certificate: weather.pem}

            """
        let client = try #require(try Certificates.throwaway().client)
        try folder.directory.create(Array("weather.pem".utf8), mode: 0o600).write(client)
        try folder.directory.put("pushspool.yaml", "apps: .\n")
        var apps: [AppConfiguration] = []
        for text in [sample, required] {
            try folder.directory.unlink(Array("weather.yaml".utf8))
            try folder.directory.put("weather.yaml", text)
            let set = ConfigurationLoader(path: folder.path + "/pushspool.yaml").load()
            apps.append(try #require(set.apps["weather"]).configuration)
        }
        #expect(apps[0] == apps[1])
    }
}

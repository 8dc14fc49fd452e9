import Configuration
import FCMHTTP2
import GatewaySimulator
import Gateways
import JSON
import LinuxIO
import OpenSSL
import PushModel
import SecureTransport
import Testing

@testable import Doctor

/// What the doctor finds out about an account in the time that it has.
struct AccountExaminationTests {
    /// Examines the account of a simulated project, whose gateway and token endpoint follow a script.
    private func outcome(
        _ script: String, within timeout: Duration, of limit: Duration = .seconds(30)
    ) async throws -> (trial: GatewayFacts.Trial, isOver: Bool) {
        let (project, file) = try FCMProject.throwaway()
        var settings = Simulator.Configuration()
        settings.script = try FaultScript(script)
        settings.fcm.rules.projects = [project]
        return try await Simulator.running(settings) { simulator in
            let context = try TLSContext.client(
                identity: nil, trust: .pem(simulator.certificates.authority),
                options: TLSOptions(applicationProtocols: ["h2"]))
            func endpoint(_ port: Int) -> Endpoint { Endpoint(HostPort(host: "127.0.0.1", port: UInt16(port))) }
            var parser = JSON.Parser()
            let content = try ServiceAccountFile(file, parser: &parser)
            let access = AccountTrial.Access(
                endpoint(simulator.ports.fcm),
                tokens: .init(endpoint: endpoint(simulator.ports.oauth), context: context),
                key: try ServiceAccountKey(content.account, privateKey: content.privateKey), project: project.id)
            let examination = try Examination(.init(path: "/pushspool.yaml", timeout: limit))
            let trial = AccountTrial(access, on: await examination.reactor)
            return (await examination.outcome(of: trial, within: timeout), await examination.isOver)
        }
    }

    @Test func `a token endpoint and a gateway that answer prove the account`() async throws {
        #expect(try await outcome("", within: .seconds(30)).trial == .accepted)
    }

    @Test func `a token endpoint that does not answer is named`() async throws {
        let outcome = try await outcome("port=oauth withhold", within: .seconds(1)).trial
        guard case .unanswered(let fault) = outcome else { Issue.record("\(outcome)"); return }
        #expect(fault.message.contains("no access token") && fault.message.contains("the server does not answer"))
    }

    @Test func `a gateway that does not answer is named, and the token endpoint is not`() async throws {
        let outcome = try await outcome("port=fcm withhold", within: .seconds(1)).trial
        guard case .unanswered(let fault) = outcome else { Issue.record("\(outcome)"); return }
        #expect(fault.message.contains("cannot check a message at 127.0.0.1:"))
    }

    /// Both servers are reached with the settings of the app's file.
    @Test func `the token endpoint and the gateway are reached through the app's proxy`() async throws {
        let (project, file) = try FCMProject.throwaway()
        var settings = Simulator.Configuration()
        settings.fcm.rules.projects = [project]
        try await Simulator.running(settings) { simulator in
            try await ConnectProxy.running(authorization: "Basic bWU6c2VjcmV0\r\n") { proxy in
                let folder = try AppsFolder()
                let (gateway, tokens) = ("127.0.0.1:\(simulator.ports.fcm)", "127.0.0.1:\(simulator.ports.oauth)")
                try folder.put("weather-adminsdk.json", file)
                try folder.put("ca.pem", simulator.certificates.authority)
                let text = """
                    protocol: fcm
                    credentials: {service_account: weather-adminsdk.json}
                    gateway: \(gateway)
                    token_gateway: \(tokens)
                    trust: ca.pem
                    proxy: http://me:secret@127.0.0.1:\(await proxy.port)

                    """
                try folder.put("weather.yaml", Array(text.utf8))
                let set = folder.loader.load()
                let examination = try Examination(.init(path: "/pushspool.yaml"))
                let trial = try #require(
                    set.apps["weather"]?.accountTrial(on: await examination.reactor), "\(set.lines)")
                #expect(await examination.outcome(of: trial, within: .seconds(30)) == .accepted)
                #expect(await proxy.questions == [tokens, gateway].map { "CONNECT \($0) HTTP/1.1" })
            }
        }
    }

    @Test func `a slow token endpoint leaves the gateway half of the time`() async throws {
        let (trial, isOver) = try await outcome("port=oauth withhold", within: .seconds(30), of: .seconds(4))
        guard case .cutShort(let fault) = trial else {
            Issue.record("\(trial)")
            return
        }
        #expect(fault.message.contains("no access token") && !isOver)
    }
}

import APNSModel
import Document
import Foundation
import LinuxIO
import PushDaemon
import PushModel
import TestSupport
import Testing

@testable import AppEngine
@testable import Configuration
@testable import JobOperations

/// The sample jobs in `etc/jobs`: one for each push type, a broadcast, and those for FCM.
struct SampleJobTests {
    private static let folder = Manual.root.appending(path: "etc/jobs").path

    private static let fcm = ["fcm-data.yaml", "fcm-notification.yaml", "fcm-topic.yaml"]

    @Test func `etc/jobs has exactly one sample for each push type, a broadcast, and those for FCM`() throws {
        let names = try Directory.open(path: Self.folder).sortedNames()
        #expect(names == (PushType.allCases.map { "\($0.rawValue).yaml" } + ["broadcast.yaml"] + Self.fcm).sorted())
    }

    @Test(arguments: fcm)
    func `the reader of a sample for FCM finds nothing to report`(name: String) throws {
        let verdict = try JobCheck(for: .fcm).read("\(Self.folder)/\(name)")
        #expect(verdict.diagnostics.isEmpty, "\(verdict.diagnostics)")
        #expect(verdict.isSendable && verdict.recipientCount == 1 && verdict.rejectedCount == 0)
    }

    @Test func `the sample of a broadcast has a channel, and its reader finds nothing to report`() throws {
        let folder = try TemporaryDirectory()
        for app in [nil, try Self.weather(in: folder)] {
            let verdict = try JobCheck(for: app?.listed).read("\(Self.folder)/broadcast.yaml")
            #expect(verdict.diagnostics.isEmpty, "\(verdict.diagnostics)")
            #expect(verdict.isSendable && verdict.recipientCount == 1 && verdict.rejectedCount == 0)
        }
    }

    @Test(arguments: PushType.allCases)
    func `the sample of a push type names it, and its reader finds nothing to report`(type: PushType) throws {
        let text = try Manual.text("etc/jobs/\(type.rawValue).yaml")
        #expect(text.hasPrefix("# "))
        #expect(text.matches(of: #/(?m)^push_type: (.*)$/#).map { String($0.output.1) } == [type.rawValue])
        let folder = try TemporaryDirectory()
        for app in [nil, try Self.weather(in: folder)] {
            let verdict = try JobCheck(for: app?.listed).read("\(Self.folder)/\(type.rawValue).yaml")
            #expect(verdict.diagnostics.isEmpty, "\(verdict.diagnostics)")
            #expect(verdict.isSendable && verdict.recipientCount == 1 && verdict.rejectedCount == 0)
        }
    }

    @Test(arguments: PushType.allCases)
    func `the sample of a push type says what its topic is, and a priority that fits`(type: PushType) throws {
        let text = try Manual.text("etc/jobs/\(type.rawValue).yaml")
        let topics = text.matches(of: #/(?m)^(# )?topic: (\S+)/#).map { (isComment: $0.output.1 != nil, $0.output.2) }
        try #require(topics.count == 1)
        if let suffix = type.rules.topicSuffix {
            #expect(topics[0].isComment && topics[0].1 == "com.example.weather\(suffix)")
        } else {
            #expect(!topics[0].isComment)
        }
        let priority = try #require(text.firstMatch(of: #/(?m)^priority: (\d+)$/#)?.output.1)
        #expect(type.rules.priorities.contains { "\($0.rawValue)" == priority })
    }

    /// The sample app, with a key for provider tokens.
    private static func weather(in folder: TemporaryDirectory) throws -> ConfiguredApp {
        try folder.directory.put("pushspool.yaml", "apps: .\n")
        try folder.directory.put("weather.yaml", try Manual.text("etc/apps/weather.yaml.sample"))
        try ConfigurationTests.putCredentials(into: folder.directory)
        return try #require(ConfigurationLoader(path: folder.path + "/pushspool.yaml").load().apps["weather"])
    }
}

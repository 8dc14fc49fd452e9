import Document
import Foundation
import Glibc
import OpenSSL
import PushModel
import ServiceProcess
import TestSupport
import Testing

@testable import Configuration
@testable import PushDaemon

/// Certificates that are about to expire: who is told, when, and how often.
@Suite struct ExpiryTests {
    private static let end = WallTime(epochSeconds: 1_800_000_000)
    private static let day = Duration.seconds(86_400)

    private static func expiry(at end: WallTime = end) -> CertificateExpiry {
        CertificateExpiry(name: "Weather", file: "/etc/push.pem", notAfter: end)
    }

    @Test(
        arguments: [
            (.seconds(31 * 86_400), nil, 31), (.seconds(30 * 86_400 + 1), nil, 30), (.seconds(30 * 86_400), .month, 30),
            (.seconds(7 * 86_400 + 1), .month, 7), (.seconds(7 * 86_400), .week, 7), (.seconds(86_401), .week, 1),
            (.seconds(86_400), .day, 1), (.seconds(1), .day, 0), (.zero, .day, 0), (.seconds(-1), .expired, -1),
            (.seconds(-86_401), .expired, -2),
        ] as [(Duration, CertificateExpiry.Stage?, Int)])
    func `what is left decides how near the end is`(left: Duration, stage: CertificateExpiry.Stage?, days: Int) {
        let now = Self.end + left * -1
        #expect(Self.expiry().stage(at: now) == stage)
        #expect(Self.expiry().daysLeft(at: now) == days)
        #expect((Self.expiry().diagnostic(at: now) == nil) == (stage == nil))
    }

    @Test(arguments: [
        (Duration.seconds(12 * 86_400), "expires on 2027-01-15, in 12 days"),
        (.seconds(7200), "expires at 2027-01-15T08:00:00.000Z, in less than 3 h"),
        (.seconds(-5), "expired on 2027-01-15"),
    ])
    func `the warning has name, date, file and remedy`(left: Duration, words: String) throws {
        let now = Self.end + left * -1
        let diagnostic = try #require(Self.expiry().diagnostic(at: now))
        #expect(diagnostic.message == "certificate \"Weather\" \(words)" && diagnostic.severity == .warning)
        let hint = try #require(diagnostic.hint)
        #expect(hint.contains("/etc/push.pem") && hint.contains("create a new push certificate"))
    }

    @Test func `each stage is told once, and again of another certificate`() {
        var watch = ExpiryWatch()
        let days = [40, 30, 29, 8, 7, 6, 1, 1, 0, -1, -2]
        let told = days.map { left in
            watch.note(["weather": Self.expiry()], at: Self.end + Self.day * -left).map(\.stage)
        }
        #expect(told == [[], [.month], [], [], [.week], [], [.day], [], [], [.expired], []])
        let renewed = Self.expiry(at: Self.end + Self.day * 20)
        let news = watch.note(["weather": renewed], at: Self.end).map(\.stage)
        #expect(news == [.month])
    }

    @Test func `a start within a stage tells that stage alone, and a clock that is set back nothing`() {
        var watch = ExpiryWatch()
        let looks = [-1, 5, 40, -2].map { left in
            watch.note(["weather": Self.expiry()], at: Self.end + Self.day * -left).map(\.stage)
        }
        #expect(looks == [[.expired], [], [], []])
        var other = ExpiryWatch()
        let late = other.note(["b": Self.expiry(), "a": Self.expiry()], at: Self.end + Self.day * -3)
        #expect(late.map(\.app) == ["a", "b"] && late.map(\.stage) == [.week, .week])
    }

    @Test func `no run of looks tells a stage of a certificate twice, or one that is not reached`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var watch = ExpiryWatch()
            var now = Self.end + Self.day * -45
            var told: [CertificateExpiry.Stage] = []
            for _ in 0..<60 {
                now = now + .seconds(Int64.random(in: -86_400...3 * 86_400, using: &random))
                let news = watch.note(["weather": Self.expiry()], at: now).map(\.stage)
                #expect(news.allSatisfy { $0 == Self.expiry().stage(at: now) }, "seed \(seed)")
                told += news
            }
            #expect(told == Array(Set(told)).sorted(), "seed \(seed): \(told)")
        }
    }

    @Test func `log, status and check tell of a certificate that has five days left`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.certify(for: 5 * 86_400 + 3600)
            let check = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            let warning = "weather.yaml: warning: credentials: certificate"
            #expect(check.code == 0 && check.log.contains(warning), "\(check)")
            #expect(check.log.contains(", in 5 days") && check.log.contains("hint: create a new"), "\(check)")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await daemon.says("certificate expires soon")
                let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("expires soon") })
                for word in [" warning ", "app=weather", "days_left=5", "/etc/push.pem", "hint="] {
                    #expect(line.contains(word), "\(word) in \(line)")
                }
                let command = ["status", "--config", "\(bench.path)/etc/pushspool.yaml"]
                try await eventually("the status") {
                    try await bench.run(command).text.contains("weather: certificate expires on ")
                }
                let json = try await bench.run(command + ["--json"])
                for part in [#""credentials":{"kind":"certificate","topics":["#, #""not_after":"#, #""days_left":5}"#] {
                    #expect(json.text.contains(part), "\(json)")
                }
                daemon.send(SIGHUP)
                try await daemon.says("configuration loaded")
                #expect(try await daemon.stop() == 0)
                #expect(daemon.log.components(separatedBy: "certificate expires soon").count == 2)
            }
        }
    }

    @Test(.catalogue("J76 late-certificate, the daemon", checks: []))
    func `an app starts by itself when its certificate becomes valid`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.certify(for: 86_400, from: 6)
            try await bench.withDaemon { daemon in
                try await daemon.says("app waits until its certificate is valid")
                #expect(daemon.log.contains("is not valid before") && daemon.log.contains("until="))
                let command = ["status", "--config", "\(bench.path)/etc/pushspool.yaml", "--json"]
                try await eventually("the status") { try await bench.run(command).text.contains(#""until":"#) }
                try await daemon.says("app started")
                try await eventually("the status") { try await !bench.run(command).text.contains(#""until":"#) }
            }
        }
    }

    @Test(
        .catalogue("J76 late-certificate, clock", checks: []),
        arguments: [
            (-1, false, .seconds(1)), (0, true, nil), (5, true, nil), (10, true, nil), (11, false, nil),
        ] as [(Int64, Bool, Duration?)])
    func `a certificate is looked at again whichever way the clock goes`(at: Int64, isValid: Bool, wait: Duration?) {
        let time = CertificateTime(start: Self.end, end: Self.end + .seconds(10))
        #expect(time.includes(Self.end + .seconds(at)) == isValid)
        #expect(time.wait(from: Self.end + .seconds(at)) == wait)
    }

    @Test func `nothing is said of a certificate that has long to go, nor of a provider token`() async throws {
        try await Modern().serving { bench, daemon in
            let command = ["status", "--config", "\(bench.path)/etc/pushspool.yaml"]
            try await eventually("the status") { try await bench.run(command).text.contains("modern  idle") }
            let json = try await bench.run(command + ["--json"])
            #expect(json.text.contains(#""credentials":{"kind":"token"}"#), "\(json)")
            #expect(!daemon.log.contains("expire") && !json.text.contains("not_after"))
        }
    }
}

extension Bench {
    /// Gives the app weather a certificate that is good for so many seconds.
    fileprivate func certify(for seconds: Int64, from start: Int64 = -86_400) throws {
        var plan = CertificatePlan.push(topic: "com.example.weather")
        let now = WallTime.now.epochSeconds
        plan.validity = now + start...now + seconds
        let identity = try CertificateAuthority().issue(plan)
        let file = path + "/etc/push.pem"
        try Data(try identity.certificatePEM() + identity.keyPEM()).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try configureApp("weather", credentials: "credentials: {certificate: \(file)}")
    }
}

import Foundation
import GatewaySimulator
import LinuxIO
import TestSupport
import Testing

/// `pushspool doctor`, on set-ups that are broken and on one that is well.
@Suite struct DoctorTests {
    /// Runs a gateway and a spool with an app that nothing is wrong with.
    private func examining(
        script: String = "", _ body: @Sendable (Bench) async throws -> Void
    ) async throws {
        try await Bench.running(try .init(script: script)) { bench in
            // As in production, where the bench is impatient; and by an address, since the name has one more.
            let gateway = "gateway: 127.0.0.1:\(bench.simulator.ports.gateway)"
            try bench.configureApp("weather", "\(gateway)\nbinary: {confirm_after: 3s}")
            try await body(bench)
        }
    }

    @Test(arguments: BrokenSetup.all)
    func `the doctor names the fault first, with the remedy, and so does check where it can`(
        broken: BrokenSetup
    ) async throws {
        try await examining(script: broken.script) { bench in
            try await broken.spoil(bench)
            let (code, diagnosis) = try await bench.doctor(broken.arguments, shell: broken.shell)
            let first = try #require(diagnosis.complaints.first, "\(diagnosis)")
            #expect(first.severity == broken.severity && first.area == broken.area, "\(diagnosis.complaints)")
            for word in broken.words { #expect(first.message.contains(word), "\(word) in \(first)") }
            let hint = try #require(first.hint)
            #expect(hint.contains(broken.remedy), "\(broken.remedy) in \(first)")
            #expect(code == (broken.severity == "fault" ? 78 : 1))
            #expect(!"\(diagnosis)".contains("secret"))
            guard broken.isFoundByCheck else { return }
            let check = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(check.code == (broken.severity == "fault" ? 78 : 0), "\(check)")
            let lines = check.log.split(separator: "\n")
            for word in broken.words { #expect(lines.first?.contains(word) == true, "\(word) in \(check)") }
            #expect(lines.count > 1 && lines[1].contains(broken.remedy), "\(broken.remedy) in \(check)")
        }
    }

    @Test func `there are at least 25 broken set-ups, no two of them alike`() {
        #expect(BrokenSetup.all.count >= 25)
        #expect(Set(BrokenSetup.all.map(\.testDescription)).count == BrokenSetup.all.count)
    }

    @Test func `a set-up that is well has no fault, and a daemon at work is not disturbed`() async throws {
        try await examining { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let count = 2000
                try bench.configureApp(
                    "weather",
                    "gateway: 127.0.0.1:\(bench.simulator.ports.gateway)\nbinary: {confirm_after: 3s}\nrate: 500/s")
                try await daemon.says("app reconfigured")
                try bench.drop("many.json", job(tokens: 0..<count))
                _ = try await bench.accepted(1)
                try await eventually("a status") {
                    let end = try await bench.run(["status", "--config", "\(bench.path)/etc/pushspool.yaml"])
                    return end.code == 0 && end.text.contains("sending")
                }
                let (code, diagnosis) = try await bench.doctor(["weather"])
                #expect(diagnosis.complaints.isEmpty && code <= 1, "\(diagnosis.complaints)")
                #expect(Set(diagnosis.findings.map(\.area)).count == 8, "\(diagnosis.findings)")
                #expect(try await bench.end(of: "many.json").accepted == count)
                let ledger = await bench.simulator.ledger
                #expect(Set(ledger.acceptedTokens).count == count && ledger.acceptedCount == count)
                for folder in ["tmp", "new", "work/node-a", "hold", "done", "failed"] {
                    #expect(!bench.names(in: "weather/\(folder)").contains { $0.hasPrefix(".doctor") }, "\(folder)")
                }
                #expect(!daemon.log.contains("doctor"))
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `a daemon whose control socket nobody answers is named`() async throws {
        try await examining { bench in
            try FileManager.default.removeItem(atPath: bench.path + "/run")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let finding = try await awaited("the finding") {
                    try await bench.doctor().diagnosis.findings.first { $0.message.contains("control socket") }
                }
                #expect(finding.severity == "warn" && finding.area == "daemon", "\(finding)")
                #expect(finding.hint?.contains("create that folder") == true)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/setfacl"), "setfacl is not installed"))
    func `the access lists of the manual are well, and the remedy for a group that may write keeps them`()
        async throws
    {
        try await examining { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let app = bench.path + "/spool/weather"
                try await bench.tool("setfacl", "-m", "u:65534:rwx", app + "/new", app + "/tmp")
                try await bench.tool("setfacl", "-m", "u:65534:rwx,d:u:65534:r", app + "/feedback")
                let well = try await bench.doctor(["weather"]).diagnosis
                #expect(!well.complaints.contains { $0.area == "permissions" }, "\(well.complaints)")
                try await bench.tool("setfacl", "-m", "g::rwx", app + "/feedback")
                let open = try await bench.doctor(["weather"]).diagnosis
                let finding = try #require(open.complaints.first { $0.area == "permissions" }, "\(open)")
                let remedy = try #require(finding.hint)
                try await bench.tool("sh", "-c", remedy)
                let again = try await bench.doctor(["weather"]).diagnosis
                #expect(!again.complaints.contains { $0.area == "permissions" }, "\(again.complaints)")
                let list = try await bench.output("getfacl", "-p", "-n", app + "/feedback")
                #expect(list.contains("user:65534:rwx") && !list.contains("effective"), "\(list)")
            }
        }
    }

    @Test func `a state folder that was removed after a daemon has run is named`() async throws {
        try await examining { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                #expect(try await daemon.stop() == 0)
            }
            try FileManager.default.removeItem(atPath: bench.path + "/state")
            let findings = try await bench.doctor().diagnosis.findings
            let finding = try #require(findings.first { $0.message.contains("is missing, although a daemon has run") })
            #expect(finding.severity == "warn" && finding.hint?.contains("put it back") == true, "\(finding)")
        }
    }

    @Test func `what is printed for people is a line for each finding and each remedy, faults first`() async throws {
        try await examining { bench in
            try bench.configureApp("weather", "gateway: localhost:1")
            try bench.configureApp("faulty", "bogus: 1")
            let end = try await bench.run(["doctor", "--config", "\(bench.path)/etc/pushspool.yaml"])
            let lines = end.text.split(separator: "\n").map(String.init)
            let last = try #require(lines.last)
            #expect(last.wholeMatch(of: /\d+ faults?, \d+ warnings?, \d+ ok/) != nil, "\(end)")
            let findings = lines.dropLast().filter { !$0.hasPrefix("hint: ") }
            let words = findings.compactMap { $0.split(separator: " ").first }
            let ranks = words.map { ["fault", "warn", "ok"].firstIndex(of: $0) ?? 9 }
            #expect(end.code == 78 && ranks == ranks.sorted() && ranks.last != 9, "\(end)")
            #expect(lines[0].hasPrefix("fault configuration faulty: ") && lines[1].hasPrefix("hint: "), "\(end)")
            #expect(lines.contains { $0.hasPrefix("fault gateway weather: cannot connect to ") }, "\(end)")
            #expect(lines.contains { $0.hasPrefix("ok names: the spool is ") }, "\(end)")
        }
    }

    @Test func `a clock that is years behind is the first thing that an app with a token learns`() async throws {
        let modern = try Modern()
        try await modern.running { bench in
            try bench.configureModern()
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.clock, "-315360000")
            let (code, diagnosis) = try await bench.doctor([], sabotage)
            let first = try #require(diagnosis.complaints.first)
            #expect(code == 78 && first.area == "clock" && first.message.hasPrefix("the clock says 20"), "\(first)")
            #expect(first.hint?.contains("timedatectl") == true)
        }
    }

    @Test func `a proxy that wants a login is named, and one that has it is gone through`() async throws {
        try await Modern().running { bench in
            try await ConnectProxy.running(authorization: "Basic bWU6c2VjcmV0\r\n") { proxy in
                let port = await proxy.port
                try bench.configureModern("proxy: http://127.0.0.1:\(port)")
                let (_, refused) = try await bench.doctor()
                let first = try #require(refused.complaints.first)
                #expect(first.area == "gateway" && first.message.contains("requires a login (407 No)"), "\(first)")
                #expect(first.hint == "write http://user:password@host:port")
                try bench.configureModern("proxy: http://me:secret@127.0.0.1:\(port)")
                let (_, well) = try await bench.doctor()
                #expect(well.findings.allSatisfy { $0.severity != "fault" }, "\(well.complaints)")
                #expect(!"\(well)".contains("secret"))
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    @Test func `a job that the gateway does not take stops the app, and the doctor says so`() async throws {
        let modern = try Modern()
        try await Bench.running(modern.setup) { bench in
            try bench.keepKey(try RegisteredKey.throwaway().privateKey)
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job(1), app: "modern")
                try await daemon.says("app stopped")
                let finding = try await awaited("the finding") {
                    try await bench.doctor().diagnosis.findings.first { $0.app == "modern" && $0.severity == "fault" }
                }
                #expect(finding.area == "daemon" && finding.message.contains("is stopped"), "\(finding)")
            }
        }
    }

    @Test func `a folder that hangs is named, and takes no time from the gateways`() async throws {
        try await examining { bench in
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.fsync)
            let (code, diagnosis) = try await bench.doctor(["--timeout", "3"], sabotage)
            let hanging = diagnosis.findings.filter { $0.message.contains("hangs") }
            let first = try #require(hanging.first)
            #expect(code == 78 && hanging.count == 1 && first.area == "filesystem", "\(diagnosis.findings)")
            #expect(first.message.hasPrefix(bench.path + "/etc/../spool did not respond within 3 s"), "\(first)")
            let gateway = diagnosis.findings.filter { $0.area == "gateway" }
            #expect(!gateway.isEmpty && gateway.allSatisfy { $0.severity == "ok" }, "\(gateway)")
        }
    }

    @Test func `a gateway that says nothing is named, and takes no time from the spool`() async throws {
        try await examining { bench in
            try await onReactor { reactor in
                // Nobody accepts, but the kernel takes connections.
                let mute = try Listener(on: .loopback(), reactor: reactor)
                let gateway = "gateway: 127.0.0.1:\(mute.address.port)\nbinary: {confirm_after: 3s}\n"
                try bench.configureApp("weather", gateway + "timeouts: {connect: 500ms}")
                let (code, diagnosis) = try await bench.doctor()
                let first = try #require(diagnosis.complaints.first)
                #expect(code == 78 && first.area == "gateway" && first.message.contains("TLS handshake"), "\(first)")
                #expect(first.hint?.contains("gets no answer") == true, "\(first)")
                try bench.configureApp("weather", gateway)
                let (cutCode, cut) = try await bench.doctor(["--timeout", "4"])
                let untried = try #require(cut.complaints.first)
                #expect(untried.severity == "warn" && untried.message.contains("not fully tested"), "\(untried)")
                #expect(cutCode == 1 && cut.findings.contains { $0.message.contains("a sync ") }, "\(cut.findings)")
                withExtendedLifetime(mute) {}
            }
        }
    }

    @Test(.enabled(if: SmallVolume.isPossible, "needs root, to mount a volume"))
    func `a folder on another filesystem is named`() async throws {
        try await examining { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                #expect(try await daemon.stop() == 0)
            }
            let done = bench.path + "/spool/weather/done"
            try await bench.tool("mount", "-t", "tmpfs", "-o", "size=1m,mode=0750", "none", done)
            let found: Result<Diagnosis, any Error>
            do {
                found = .success(try await bench.doctor().diagnosis)
            } catch {
                found = .failure(error)
            }
            try await bench.tool("umount", "--lazy", done)
            let first = try #require(try found.get().complaints.first)
            #expect(first.area == "permissions" && first.message.hasSuffix("spool/weather: done"), "\(first)")
        }
    }
}

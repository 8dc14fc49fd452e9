import ArgumentParser
import CommandProgram
import Configuration
import Document
import JobFormat
import JobOperations
import LinuxIO
import PushModel
import ServiceProcess
import SpoolInspection
import SpoolModel

/// The command `pushspool check`.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the configuration, credentials and job files; send nothing.",
        discussion: """
            Reports every fault that `run` would find in its files, each with file, line and remedy; `doctor` also tests \
            the spool, gateways and daemon. Exits with 78 if the configuration is faulty, 65 if a job file is, and 0 if \
            there are no faults. A producer, who may not read the configuration, checks job files against the apps that \
            the daemon publishes in the spool.

            Example: pushspool check --config etc/pushspool.yaml --app weather job.yaml
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(name: .shortAndLong, help: ArgumentHelp("The app of the job files.", valueName: "name"))
    var app: String?

    @Option(
        help: ArgumentHelp("Check job files against the apps that daemons publish in this spool.", valueName: "folder"),
        completion: .directory)
    var spool: String?

    @Flag(help: "Check job files only, against the published apps if there are any.")
    var jobsOnly = false

    @Flag(help: "Print one JSON object per line: for each job file, each faulty file, and each valid app.")
    var json = false

    @Option(help: ArgumentHelp("The format of standard input: json, yaml or jsonl.", valueName: "format"))
    var format = Submit.Format.json

    @Argument(help: ArgumentHelp("Job files to check; - reads standard input.", valueName: "job"), completion: .file())
    var jobs: [String] = []

    func run() async throws {
        let set = jobsOnly ? ConfigurationSet() : ConfigurationLoader(path: options.config).load()
        if jobsOnly || !jobs.isEmpty && (spool != nil || isSecret(set)) {
            guard try areGood(try publicCheck()) else { throw ExitCode.badInput }
            return
        }
        if json {
            for finding in set.findings { print(CheckReport(finding.file, finding.diagnostics), as: finding.file) }
        } else {
            FindingList(set).note()
        }
        if let lack = set.lackOfApps { print(CheckReport(set.daemon.apps, [lack]), as: set.daemon.apps) }
        for (name, app) in set.apps.sorted(by: { $0.key < $1.key }) {
            let file = "\(set.daemon.apps)/\(name).yaml"
            var report = CheckReport(file, [expiry(of: app, in: set.daemon.apps)].compactMap(\.self))
            (report.app, report.summary) = (name, app.summary)
            print(report, as: name)
        }
        let areDoorsGood = checkDoors(set)
        let areJobsGood = try checkJobs(set)
        if set.hasErrors || !areDoorsGood { throw ExitCode.badConfiguration }
        if !areJobsGood { throw ExitCode.badInput }
    }

    /// Prints the findings. As text, diagnostics come first, then the summary with a name.
    private func print(_ report: CheckReport, as name: String) {
        guard !json else { return Talk.say(report.json) }
        for diagnostic in report.diagnostics { Talk.note(diagnostic.rendered(file: report.file)) }
        if let summary = report.summary { Talk.say("\(name): \(summary)") }
    }

    /// The warning that the app's certificate expires soon, if it does.
    private func expiry(of app: ConfiguredApp, in folder: String) -> Diagnostic? {
        CertificateExpiry(of: app, in: folder)?.diagnostic(at: WallTime(nanoseconds: WallClock.nanoseconds()))
    }

    /// Checks the doors' file beside the daemon's, if it is there; `pushspool-door check` also reads its keys.
    private func checkDoors(_ set: ConfigurationSet) -> Bool {
        let path = ConfigurationFile.resolve("doors.yaml", in: FilePlace(options.config).directory)
        guard !set.isDaemonBroken,
            let finding = DoorLoader(path: path).review(against: set.apps.values.map(\.listed))
        else { return true }
        if !finding.diagnostics.isEmpty { print(CheckReport(path, finding.diagnostics), as: path) }
        return !finding.hasErrors
    }

    private func checkJobs(_ set: ConfigurationSet) throws -> Bool {
        if let app, set.apps[app] == nil {
            Talk.complain("--app: no app is named \(app)", hint: remedy(for: app, in: set))
            return false
        }
        let only = set.apps.count == 1 ? set.apps.values.first : nil
        return try areGood(JobCheck(for: (app.flatMap { set.apps[$0] } ?? only)?.listed, limits: set.daemon.limits))
    }

    private func areGood(_ check: JobCheck) throws -> Bool {
        var areGood = true
        for job in jobs where !isGood(job, check) { areGood = false }
        return areGood
    }

    /// Whether this user, as a producer, may not read what there is about the app: the configuration or its credentials.
    private func isSecret(_ set: ConfigurationSet) -> Bool {
        guard app.map({ set.apps[$0] == nil }) ?? set.apps.isEmpty else { return false }
        let folder = set.daemon.apps
        let names = ((try? Directory.open(path: folder).names()) ?? []).map { String(decoding: $0, as: UTF8.self) }
        let files = names.filter { $0.hasSuffix(".yaml") }.map { "\(folder)/\($0)" }
        return ([options.config, folder] + files + set.credentialFiles).contains { path in
            do throws(SystemError) {
                _ = try OpenFile.open(path: path)
                return false
            } catch {
                return error.isPermission
            }
        }
    }

    /// The check against the apps that daemons publish.
    private func publicCheck() throws -> JobCheck {
        let known = ConfigurationLoader(path: options.config).loadDaemon()
        let folder = spool ?? (known.arePlacesKnown ? known.daemon.spool : nil)
        let lists = folder.map(PublishedApps.lists) ?? []
        let names = Set(lists.flatMap(\.apps).map(\.name)).sorted()
        let wanted = app ?? (names.count == 1 ? names[0] : nil)
        for list in lists {
            guard let app = list.apps.first(where: { $0.name == wanted }) else { continue }
            return JobCheck(for: app, limits: list.limits)
        }
        guard !jobsOnly else { return JobCheck(for: nil) }
        let what = app.map { "the app \($0)" } ?? (names.isEmpty ? "apps" : "a single app")
        Talk.complain(
            folder.map { "no daemon publishes \(what) in \($0)" } ?? "no permission to read \(options.config)",
            hint: names.isEmpty
                ? "name the spool with --spool, or check the job alone with --jobs-only"
                : "name one of these with --app: \(names.prefix(20).joined(separator: ", "))")
        throw ExitCode.badConfiguration
    }

    /// The hint for an app that does not exist.
    private func remedy(for app: String, in set: ConfigurationSet) -> String {
        if set.isDaemonBroken || set.brokenApps.contains(app) { return "fix the faults above, or use --jobs-only" }
        let names = set.brokenApps.union(set.apps.keys).sorted()
        if names.isEmpty { return "no apps are configured: create \(set.daemon.apps)/\(app).yaml" }
        let more = names.count > 20 ? ", and \(names.count - 20) more" : ""
        return "configured app\(names.count == 1 ? "" : "s"): \(names.prefix(20).joined(separator: ", "))\(more)"
    }

    private func isGood(_ job: String, _ check: JobCheck) -> Bool {
        var report = CheckReport(job)
        do throws(Diagnostic) {
            let verdict = try verdict(on: job, check)
            report.record(verdict)
        } catch {
            report.diagnostics = [error]
        }
        print(report, as: job)
        return report.isGood
    }

    private func verdict(on job: String, _ check: JobCheck) throws(Diagnostic) -> JobCheck.Verdict {
        guard job == "-" else { return try check.read(job) }
        guard let name = FileName("stdin.\(format.rawValue)") else { preconditionFailure("a name of ours") }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try StandardStream.input.readToEnd(limit: Self.inputLimit)
        } catch {
            throw Diagnostic("\(error)", hint: "pipe a job into the command, or name a file")
        }
        guard bytes.count <= Self.inputLimit else {
            throw Diagnostic("the job is longer than 1 GiB", hint: "name a file")
        }
        return try check.read(bytes, named: name)
    }

    private static let inputLimit = 1 << 30
}

import APNSModel
import ArgumentParser
import Document
import LinuxIO
import PushDaemon

/// `pushspool check`.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check configuration, credentials and job files, and send nothing.",
        discussion: """
            Finds everything that `run` would find in its files, all faults at once, each with file, line and remedy; \
            `doctor` also looks at what they point to. Exits with 78 for a fault of the configuration, 65 for one of a \
            job file, 0 if all is well.

            Example: pushspool check --config etc/pushspool.yaml --app weather job.yaml
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(name: .shortAndLong, help: ArgumentHelp("The app that the job files are for.", valueName: "name"))
    var app: String?

    @Flag(help: "Check job files only, against no app's limits and topic.")
    var jobsOnly = false

    @Argument(help: ArgumentHelp("Job files to check.", valueName: "job"), completion: .file())
    var jobs: [String] = []

    func run() async throws {
        let set = jobsOnly ? ConfigurationSet() : ConfigurationLoader(path: options.config).load()
        FindingList(set).note()
        if !jobsOnly, let lack = set.lackOfApps { Talk.note(lack.rendered(file: set.daemon.apps)) }
        for (_, app) in set.apps.sorted(by: { $0.key < $1.key }) {
            Talk.say("\(app.configuration.name): \(app.summary)")
            warn(of: app, in: set.daemon.apps)
        }
        let areJobsGood = try checkJobs(set)
        if set.hasErrors { throw ExitCode.badConfiguration }
        if !areJobsGood { throw ExitCode.badInput }
    }

    /// Says if the app's certificate is about to expire.
    private func warn(of app: ConfigurationSet.App, in folder: String) {
        let now = WallTime(nanoseconds: WallClock.nanoseconds())
        guard let diagnostic = CertificateExpiry(of: app, in: folder)?.diagnostic(at: now) else { return }
        Talk.note(diagnostic.rendered(file: "\(folder)/\(app.configuration.name).yaml"))
    }

    private func checkJobs(_ set: ConfigurationSet) throws -> Bool {
        if let app, set.apps[app] == nil, !jobsOnly {
            Talk.complain("there is no app \(app) to check job files against", hint: remedy(for: app, in: set))
            return false
        }
        guard !jobs.isEmpty else { return true }
        let only = set.apps.count == 1 ? set.apps.values.first : nil
        let check = JobCheck(for: app.flatMap { set.apps[$0] } ?? only, limits: set.daemon.limits)
        var areGood = true
        for job in jobs where !isGood(job, check) { areGood = false }
        return areGood
    }

    /// What to do about an app that there is not.
    private func remedy(for app: String, in set: ConfigurationSet) -> String {
        if set.isDaemonBroken || set.brokenApps.contains(app) { return "see the faults above, or use --jobs-only" }
        let names = set.brokenApps.union(set.apps.keys).sorted()
        if names.isEmpty { return "there is none: \(set.daemon.apps) has no file <app>.yaml" }
        let more = names.count > 20 ? ", and \(names.count - 20) more" : ""
        return "there \(names.count == 1 ? "is" : "are") \(names.prefix(20).joined(separator: ", "))\(more)"
    }

    private func isGood(_ job: String, _ check: JobCheck) -> Bool {
        do throws(Diagnostic) {
            let verdict = try check.read(job)
            for diagnostic in verdict.diagnostics { Talk.note(diagnostic.rendered(file: job)) }
            let rejected = verdict.rejectedCount == 0 ? "" : ", \(verdict.rejectedCount) rejected"
            let time = verdict.notBefore.map { ", not before \($0.rfc3339)" } ?? ""
            let fate = verdict.isSendable ? time : ": nothing would be sent"
            Talk.say("\(job): \(verdict.recipientCount.of("notification"))\(rejected)\(fate)")
            return verdict.isSendable && verdict.rejectedCount == 0
        } catch {
            Talk.note(error.rendered(file: job))
            return false
        }
    }
}

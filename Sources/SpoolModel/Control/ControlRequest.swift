package import Document

/// A command from an operator to a daemon that changes something: one JSON object per line, `{"v":1,"do":"hold",…`.
package struct ControlRequest: Hashable, Sendable {
    /// The version in every line.
    package static let version = 1
    /// The most bytes in a line, request or answer, not counting its line feed.
    package static let lineLimit = 64 << 10
    /// The most requests that are carried out together.
    package static let groupLimit = 64

    /// The action to take.
    package enum Command: String, CaseIterable, Hashable, Sendable {
        /// Hold a job: notifications on a connection get their outcome, the rest wait in `hold/`.
        case hold
        /// Resume a held job.
        case release
        /// End a job: its remaining notifications become `unsent`.
        case cancel
        /// End a job: its remaining notifications become `expired`.
        case expire
        /// Resend the remainder of an ended job.
        case retry
        /// Claim and send nothing for an app until `resume`.
        case pause
        /// Resume a paused app; a stopped app tries its gateway again.
        case resume
        /// Stop the daemon.
        case stop
        /// Read the configuration again.
        case reload

        /// Whether the command ends a job. Such requests are carried out together, because they share their syncs.
        package var isEnd: Bool { self == .cancel || self == .expire }

        /// Whether the command acts on one job.
        var isAboutJob: Bool {
            switch self {
            case .hold, .release, .cancel, .expire, .retry: true
            case .pause, .resume, .stop, .reload: false
            }
        }
    }

    /// The action to take.
    package var command: Command
    /// The job, as the operator named it; `nil` if the command does not act on a job.
    package var job: String?
    /// The app of the job, if `job` does not name it; or the app to pause or resume, where `nil` means all apps.
    package var app: String?
    /// Whether only to report what the command would do (`retry`).
    package var isDryRun = false
    /// Whether to resend the whole job as a new one (`retry`).
    package var isWhole = false
    /// Whether to resend notifications of unknown outcome as well (`retry`).
    package var includesUnknown = false
    /// Whether active jobs finish first, however long that takes (`stop`).
    package var drains = false
    /// Whether active jobs are left to the other nodes of the cluster (`stop`).
    package var handsOver = false
    /// How long the jobs may take, in seconds (`stop`).
    package var timeout: Int?

    /// Creates a command without options.
    package init(_ command: Command, job: String? = nil, app: String? = nil) {
        (self.command, self.job, self.app) = (command, job, app)
    }

    /// The job that the operator means; `nil` if the text cannot name a job.
    package var reference: JobReference? { job.flatMap { JobReference($0, app: app) } }

    /// Returns `job` without a leading `app/`, even if the request names the app separately, too.
    package func jobText(in app: String?) -> String? {
        guard let app, let job, job.hasPrefix(app + "/") else { return job }
        return String(job.dropFirst(app.count + 1))
    }

    /// Reads a command.
    ///
    /// Refuses anything it does not know: a daemon of another version must not carry out half of a request.
    ///
    /// - Throws: `ControlFault`: answer with it, and do nothing.
    package init(_ root: Node) throws(ControlFault) {
        guard root["v"]?.integer == Self.version else {
            throw ControlFault("version `v` must be \(Self.version)", hint: "use the daemon's version of pushspool")
        }
        guard let command = root["do"]?.string.flatMap(Command.init(rawValue:)) else {
            let names = Command.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlFault("`do` must name a command", hint: "use one of \(names)")
        }
        self.init(command)
        for member in root.members { try read(member.key.text, member.value) }
        guard (job != nil) == command.isAboutJob else {
            throw ControlFault(job == nil ? "`job` is missing" : "\(command.rawValue) takes no job", hint: nil)
        }
    }

    private mutating func read(_ key: String, _ value: Node) throws(ControlFault) {
        let isUnderstood: Bool
        switch (key, command) {
        case ("v", _), ("do", _): isUnderstood = true
        case ("job", _): isUnderstood = Self.set(&job, value.string)
        case ("app", _): isUnderstood = Self.set(&app, value.string)
        case ("dry_run", .retry): isUnderstood = Self.setFlag(&isDryRun, value.boolean)
        case ("whole", .retry): isUnderstood = Self.setFlag(&isWhole, value.boolean)
        case ("unknown", .retry): isUnderstood = Self.setFlag(&includesUnknown, value.boolean)
        case ("drain", .stop): isUnderstood = Self.setFlag(&drains, value.boolean)
        case ("handover", .stop): isUnderstood = Self.setFlag(&handsOver, value.boolean)
        case ("timeout_s", .stop): isUnderstood = Self.set(&timeout, value.integer.flatMap { $0 >= 0 ? $0 : nil })
        default: isUnderstood = false
        }
        guard isUnderstood else {
            throw ControlFault(
                "\(command.rawValue): unknown member `\(key)`, or invalid value",
                hint: "use the daemon's version of pushspool")
        }
    }

    /// Sets `place` to `value`.
    ///
    /// - Returns: Whether there is a value of the right type.
    private static func set<Value>(_ place: inout Value?, _ value: Value?) -> Bool {
        place = value
        return value != nil
    }

    private static func setFlag(_ place: inout Bool, _ value: Bool?) -> Bool {
        place = value ?? place
        return value != nil
    }

    /// The command as a line, line feed included.
    package var line: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("v", Self.version)
        writer.member("do", command.rawValue)
        writer.member("job", job)
        writer.member("app", app)
        let marks = [
            ("dry_run", isDryRun), ("whole", isWhole), ("unknown", includesUnknown), ("drain", drains),
            ("handover", handsOver),
        ]
        for (key, isSet) in marks where isSet {
            writer.key(key)
            writer.boolean(true)
        }
        if let timeout { writer.member("timeout_s", timeout) }
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension ControlRequest.Command {
    /// The folders that may contain a job the command acts on.
    package var folders: Set<JobReference.Folder> {
        switch self {
        case .hold, .cancel, .expire: [.new, .work, .hold]
        case .release: [.hold]
        case .retry: [.done, .failed]
        case .pause, .resume, .stop, .reload: []
        }
    }

    /// The folders with the jobs that `--all` and patterns stand for: a held job cannot be held again.
    package var selectableFolders: Set<JobReference.Folder> { self == .hold ? [.new, .work] : folders }
}

/// Why a command cannot be carried out, and the remedy.
package struct ControlFault: Error, Hashable, Sendable {
    /// What is wrong.
    package let message: String
    /// The remedy, if there is one.
    package let hint: String?
    /// Whether the command has nothing to do: the job has ended, is where it should be, or has nothing left to send.
    package let hasNothingToDo: Bool

    /// Creates a fault.
    package init(_ message: String, hint: String?, hasNothingToDo: Bool = false) {
        (self.message, self.hint, self.hasNothingToDo) = (message, hint, hasNothingToDo)
    }
}

package import Document

/// A command that changes something, as an operator gives it to a daemon: one JSON object a line, `{"v":1,"do":"hold",…`.
package struct ControlRequest: Hashable, Sendable {
    /// The version that every line names.
    package static let version = 1
    /// How many bytes a line may have, of a request or of an answer, its line feed left out.
    package static let lineLimit = 64 << 10

    /// What is to be done.
    package enum Command: String, CaseIterable, Hashable, Sendable {
        /// Park a job: what is on a connection gets its outcome, the rest waits in `hold/`.
        case hold
        /// Let a parked job go on.
        case release
        /// End a job: what is left of it is `unsent`.
        case cancel
        /// End a job: what is left of it is `expired`.
        case expire
        /// Send what is left of a job that is over.
        case retry
        /// Take and send nothing of an app until `resume`.
        case pause
        /// Let a paused app go on; one that is stopped asks its gateway again.
        case resume
        /// End the daemon.
        case stop

        /// Whether it is about one job.
        var isAboutJob: Bool {
            switch self {
            case .hold, .release, .cancel, .expire, .retry: true
            case .pause, .resume, .stop: false
            }
        }
    }

    /// What is to be done.
    package var command: Command
    /// The job, as the operator names it; `nil` where the command is about none.
    package var job: String?
    /// The app that it is of, where `job` does not say so; or that is to be paused or resumed: `nil` means all.
    package var app: String?
    /// Whether to say only what would be done (`retry`).
    package var isDryRun = false
    /// Whether all of the job is sent again, as a new one (`retry`).
    package var isWhole = false
    /// Whether what may have been sent is sent again, too (`retry`).
    package var includesUnknown = false
    /// Whether jobs under way come to their end first, however long that takes (`stop`).
    package var drains = false
    /// How many seconds that may take (`stop`).
    package var timeout: Int?

    /// Creates a command without options.
    package init(_ command: Command, job: String? = nil, app: String? = nil) {
        (self.command, self.job, self.app) = (command, job, app)
    }

    /// The job that is meant; `nil` if the operator named none that can be.
    package var reference: JobReference? { job.flatMap { JobReference($0, app: app) } }

    /// What it names of an app, without the app's name if that stands before it.
    package func jobText(in app: String?) -> String? {
        guard self.app == nil, let app, let job, job.hasPrefix(app + "/") else { return job }
        return String(job.dropFirst(app.count + 1))
    }

    /// Reads a command.
    ///
    /// What is not known is refused: a daemon of another version must not do half of what was asked for.
    ///
    /// - Throws: `ControlFault`: answer with it, and do nothing.
    package init(_ root: Node) throws(ControlFault) {
        guard root["v"]?.integer == Self.version else {
            throw ControlFault("the command is not of version \(Self.version)", hint: "use the daemon's own pushspool")
        }
        guard let command = root["do"]?.string.flatMap(Command.init(rawValue:)) else {
            let names = Command.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlFault("`do` names no command", hint: "known here: \(names)")
        }
        self.init(command)
        for member in root.members { try take(member.key.text, member.value) }
        guard (job != nil) == command.isAboutJob else {
            throw ControlFault(job == nil ? "`job` is missing" : "\(command.rawValue) takes no job", hint: nil)
        }
    }

    private mutating func take(_ key: String, _ value: Node) throws(ControlFault) {
        let isUnderstood: Bool
        switch (key, command) {
        case ("v", _), ("do", _): isUnderstood = true
        case ("job", _): isUnderstood = Self.set(&job, value.string)
        case ("app", _): isUnderstood = Self.set(&app, value.string)
        case ("dry_run", .retry): isUnderstood = Self.setFlag(&isDryRun, value.boolean)
        case ("whole", .retry): isUnderstood = Self.setFlag(&isWhole, value.boolean)
        case ("unknown", .retry): isUnderstood = Self.setFlag(&includesUnknown, value.boolean)
        case ("drain", .stop): isUnderstood = Self.setFlag(&drains, value.boolean)
        case ("timeout_s", .stop): isUnderstood = Self.set(&timeout, value.integer.flatMap { $0 >= 0 ? $0 : nil })
        default: isUnderstood = false
        }
        guard isUnderstood else {
            throw ControlFault(
                "\(command.rawValue) does not know `\(key)`, or not that value of it",
                hint: "use the daemon's own pushspool")
        }
    }

    /// Takes a value of the right kind; whether it is one.
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
    /// The folders in which a job that it acts on may be.
    package var folders: Set<JobReference.Folder> {
        switch self {
        case .hold, .cancel, .expire: [.new, .work, .hold]
        case .release: [.hold]
        case .retry: [.done, .failed]
        case .pause, .resume, .stop: []
        }
    }
}

/// Why a command cannot be carried out, and what to do about that.
package struct ControlFault: Error, Hashable, Sendable {
    /// What is wrong.
    package let message: String
    /// The remedy, where there is one.
    package let hint: String?

    /// Creates a fault.
    package init(_ message: String, hint: String?) {
        (self.message, self.hint) = (message, hint)
    }
}

import ServiceProcess
import SpoolInspection
import SpoolModel

/// An operator's command for some jobs or apps, and what became of it.
struct CommandRun {
    /// A job or an app on which the command acts.
    struct Step {
        /// Its name.
        let about: String
        /// The requests. A further one is sent only if the previous one succeeded.
        let requests: [ControlRequest]
        /// Whether a pattern or `--all` stands for the job. Then it is no fault if the command has nothing to do.
        var isSelected = false

        /// Whether it is one request, which ends a job.
        fileprivate var isEnd: Bool { requests.count == 1 && requests[0].command.isEnd }
    }

    /// How many of the jobs for which patterns or `--all` stand have which end.
    struct Summary {
        let command: ControlRequest.Command
        var doneCount = 0
        var plannedCount = 0
        var idleCount = 0
        var refusedCount = 0
    }

    /// What the command acts on.
    let steps: [Step]
    /// Whether to print each answer unchanged, as one JSON object per line.
    let isJSON: Bool
    /// The counts of a command with patterns or `--all`.
    var summary: Summary?
    /// How commands failed.
    private(set) var failures: Set<ControlAnswer.Kind> = []

    /// The steps in groups whose first requests are sent together. Only ends of jobs are, because they share their syncs.
    var groups: [[Step]] {
        var groups: [[Step]] = []
        for step in steps {
            if step.isEnd, let last = groups.last, last[0].isEnd, last.count < ControlRequest.groupLimit {
                groups[groups.count - 1].append(step)
            } else {
                groups.append([step])
            }
        }
        return groups
    }

    /// Prints and counts an answer.
    mutating func report(_ answer: ControlAnswer, of step: Step) {
        // The job may have ended, and retention may have deleted it, since it was listed.
        let isIdle = step.isSelected && (answer.hasNothingToDo || answer.kind == .notFound)
        summary?.note(answer, isIdle: isIdle)
        guard !isIdle else { return }
        if !answer.isGood { failures.insert(answer.kind) }
        if isJSON { Talk.say(answer.line) } else { answer.print(step.about) }
    }

    /// Prints the counts of a command with patterns or `--all`, as a message: standard output has a line for each job.
    func printSummary() {
        if let line = summary?.line { Talk.note(line) }
    }
}

extension CommandRun.Summary {
    fileprivate mutating func note(_ answer: ControlAnswer, isIdle: Bool) {
        switch answer.kind {
        case _ where isIdle: idleCount += 1
        case .done, .begun: doneCount += 1
        case .planned: plannedCount += 1
        case .notFound, .refused, .unanswered: refusedCount += 1
        }
    }

    /// For example `retry: 3 jobs, 500 with nothing to do`.
    fileprivate var line: String {
        var words = plannedCount > 0 ? "\(plannedCount.of("job")) would change" : doneCount.of("job")
        if idleCount > 0 { words += ", \(idleCount) with nothing to do" }
        if refusedCount > 0 { words += ", \(refusedCount) refused" }
        return "\(command.rawValue): \(words)"
    }
}

extension ControlAnswer {
    /// Prints the answer. `name` stands for the subject unless the answer names a job.
    fileprivate func print(_ name: String) {
        let subject = [app, job].compactMap(\.self).joined(separator: "/")
        let about = job == nil ? name : subject
        if isGood { Talk.say("\(about): \(text)") } else { Talk.complain("\(about): \(text)", hint: hint) }
    }
}

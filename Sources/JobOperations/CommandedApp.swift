package import LinuxIO
package import SpoolModel

/// An app that executes operators' commands about its jobs: a running one (`AppRunner`), or one whose daemon is not
/// running.
package protocol CommandedApp {
    /// Returns an unambiguous name for each job of this app that a command may refer to.
    ///
    /// - Throws: `SystemError`: a folder cannot be read.
    func candidates(_ request: ControlRequest, _ reference: JobReference) async throws(SystemError) -> [String]

    /// Executes a command about a job of this app.
    ///
    /// - Returns: The answer; `nil` if the app has no matching job.
    func carryOut(_ request: ControlRequest, _ reference: JobReference) async -> ControlAnswer?
}

extension ControlRequest {
    /// Executes the command in the app that has the job.
    ///
    /// - Parameters:
    ///   - apps: The app that the request names, or all apps. If it names none and several have such a job, the command is
    ///     refused.
    ///   - reference: The job that the request means.
    /// - Returns: The answer to the operator.
    package func carryOut(in apps: [any CommandedApp], _ reference: JobReference) async -> ControlAnswer {
        do {
            for app in try await chosen(apps, reference) {
                if let answer = await app.carryOut(self, reference) { return answer }
            }
            return .notFound(reference.app, jobText(in: reference.app))
        } catch {
            return refusal(error, in: reference.app)
        }
    }

    /// The answer that refuses the command because of an error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - app: The app that the request is about, if one.
    ///   - hint: The remedy, unless the error has its own.
    /// - Returns: The answer, with the app and the job.
    func refusal(
        _ error: any Error, in app: String?, hint: String = "check permissions and disk"
    ) -> ControlAnswer {
        var answer = ControlAnswer((error as? ControlFault) ?? ControlFault("\(error)", hint: hint))
        (answer.app, answer.job) = (app, jobText(in: app))
        return answer
    }

    /// The apps to ask. Others may have finished jobs with that name, which the command does not mean if one app has a job
    /// on which the command acts.
    private func chosen(_ apps: [any CommandedApp], _ reference: JobReference) async throws -> [any CommandedApp] {
        guard reference.app == nil else { return apps }
        var (names, chosen): ([String], (any CommandedApp)?) = ([], nil)
        for app in apps {
            let candidates = try await app.candidates(self, reference)
            if chosen == nil, !candidates.isEmpty { chosen = app }
            // A runner for this node and one for another whose jobs this one finishes see the same new/, hold/ and archives.
            names += candidates.filter { !names.contains($0) }
        }
        try ControlFault.requireOne(names)
        return chosen.map { [$0] } ?? apps
    }
}

extension ControlAnswer {
    /// The answer to a command that does not name a job.
    package static func nameless(_ text: String) -> ControlAnswer {
        var answer = ControlAnswer(
            .refused, "not a job",
            hint: "give APP/NAME, the path of its file in the spool, an id, or ref:REF")
        answer.job = text
        return answer
    }

    /// Combines the answers for several apps: lists the apps for which the command succeeded, and the reason for each
    /// of the others.
    package init(ofAll answers: [ControlAnswer], _ word: String) {
        let refused = answers.filter { !$0.isGood }
        let names = answers.filter(\.isGood).compactMap(\.app).sorted().joined(separator: ", ")
        let words = names.isEmpty ? "no app is running" : "\(word): \(names)"
        let rest = refused.map { "; not \($0.app ?? ""): \($0.text)" }.joined()
        self.init(refused.isEmpty && !names.isEmpty ? .done : .refused, words + rest, hint: refused.first?.hint)
    }

    /// The answer that the job does not exist.
    package static func notFound(_ app: String?, _ job: String?) -> ControlAnswer {
        let hint = "run `pushspool show` to search all folders; `ref:` finds only jobs that were claimed"
        var answer = ControlAnswer(.notFound, "no such job", hint: hint)
        (answer.app, answer.job) = (app, job)
        return answer
    }

    /// Returns the same answer with the name of an app.
    package func about(_ app: String) -> ControlAnswer {
        var copy = self
        copy.app = app
        return copy
    }
}

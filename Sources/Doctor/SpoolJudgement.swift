import Configuration
import Document
import LinuxIO
import SpoolModel

/// Evaluates a spool's names, owners and modes.
struct SpoolJudgement {
    /// The facts.
    let facts: SpoolFacts
    /// The configuration.
    let set: ConfigurationSet
    /// The apps to report on; empty: all.
    let wanted: Set<String>
    /// Whether the node's daemon runs; `nil`: unknown.
    var hasDaemon: Bool?

    private var configured: Set<String> { self.set.brokenApps.union(self.set.apps.keys) }

    /// The findings.
    var findings: [DoctorFinding] {
        let root = rootFindings
        guard facts.root.isFolder, facts.root.refusal == nil else { return root }
        let apps = facts.apps.filter { wanted.isEmpty || wanted.contains($0.app) }
        return root + nameFindings(apps) + privateFindings
            + apps.filter { configured.contains($0.app) }
            .flatMap { permissionFindings(of: $0) + ignoredFindings(of: $0) + unmarkedFindings(of: $0) }
    }

    // MARK: Names

    private var rootFindings: [DoctorFinding] {
        var book = FindingBook(.names)
        let path = facts.root.path
        if let refusal = facts.root.refusal {
            book.fault(
                "the spool cannot be read: \(refusal)", hint: "set `spool:` to a folder, and check its permissions")
        } else if facts.root.isFolder {
            book.ok(
                "the spool is \(path), with \(facts.folders.count) app folder\(facts.folders.count == 1 ? "" : "s")")
        } else {
            book.fault(
                "the spool \(path) does not exist",
                hint: "create it for the daemon's user: install -d -m 755 -o <user> \(path), or set `spool:`")
        }
        return book.findings
    }

    private func nameFindings(_ apps: [AppFolderFacts]) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for facts in apps {
            var book = FindingBook(.names, of: facts.app)
            if let refusal = facts.home.refusal {
                book.fault("its folder cannot be accessed: \(refusal)", hint: "check the permissions of the spool")
            }
            switch (configured.contains(facts.app), facts.home.kind) {
            case (_, nil) where facts.home.refusal != nil: break
            case (true, nil): book.ok("has no folder yet: the daemon creates it when it starts")
            case (true, .directory?): book.ok("is configured and has a folder")
            case (true, let kind?):
                book.fault(
                    "\(facts.home.path) is a \(kind.rawValue), not a folder",
                    hint: "create a folder in its place; to keep it elsewhere, use mount --bind")
            case (false, nil): noteUnknown(facts.app, in: &book)
            case (false, _?):
                let remedy = set.remedy(forLackOf: facts.app)
                book.warn(
                    "\(facts.home.path) has no configuration: pushspool ignores it and its jobs",
                    hint: facts.mayHaveJobs
                        ? "\(remedy): the folder has, or may have, jobs that have not ended; do not remove it"
                        : "\(remedy), or remove the folder if you need nothing in it")
            }
            findings += book.findings
        }
        return findings + (wanted.isEmpty ? otherFindings : [])
    }

    private func noteUnknown(_ app: String, in book: inout FindingBook) {
        let isMisnamed = set.misnamedFiles[app] != nil
        let near = isMisnamed ? nil : Nearest.word(to: app, among: configured.union(facts.folders).sorted())
        book.fault(
            "no such app",
            hint: near.map { "did you mean \($0)?" } ?? "\(set.remedy(forLackOf: app)), or check the name")
    }

    private var otherFindings: [DoctorFinding] {
        guard !facts.others.isEmpty else { return [] }
        var book = FindingBook(.names)
        let names = facts.others.prefix(5).map { Diagnostic.quoted($0) }.joined(separator: ", ")
        book.warn(
            facts.others.count == 1
                ? "a name in the spool is no app's folder: \(names)"
                : "\(facts.others.count) names in the spool are no apps' folders: \(names)",
            hint: "drop jobs into <app>/new/; an app's name has \(AppName.rule)")
        return book.findings
    }

    private func ignoredFindings(of app: AppFolderFacts) -> [DoctorFinding] {
        guard let first = app.ignored.first else { return [] }
        var book = FindingBook(.names, of: app.app)
        let names = app.ignored.prefix(5).map { Diagnostic.quoted("\($0)") }.joined(separator: ", ")
        let more = app.ignored.count > 5 ? ", …" : ""
        book.warn("files ignored in new/ (\(app.ignored.count)): \(names)\(more)", hint: "\(first): \(first.remedy)")
        return book.findings
    }

    private func unmarkedFindings(of app: AppFolderFacts) -> [DoctorFinding] {
        guard !app.unmarked.isEmpty else { return [] }
        var book = FindingBook(.names, of: app.app)
        let names = app.unmarked.prefix(5).map { Diagnostic.quoted("\($0)") }.joined(separator: ", ")
        let more = app.unmarked.count > 5 ? ", …" : ""
        book.warn(
            "files written in place wait in new/ (\(app.unmarked.count)): \(names)\(more)",
            hint: "on a shared filesystem such a file must mark its end: with its bracket, a line of `...` or `count`; "
                + "or rename it into new/ when it is complete")
        return book.findings
    }

    // MARK: Permissions

    /// The findings about the folders that only the daemon may use.
    private var privateFindings: [DoctorFinding] {
        var book = FindingBook(.permissions)
        if facts.user != facts.daemonUser {
            let users = (own: Host.userText(facts.user), daemons: Host.userText(facts.daemonUser))
            let message = "this is user \(users.own), but the daemon's folders belong to user \(users.daemons)"
            let hint = "run the doctor as that user: only then can it test the daemon's permissions"
            if facts.user == 0 { book.warn(message, hint: hint) } else { book.fault(message, hint: hint) }
            // Only root could examine the remaining folders.
            if facts.user != 0 { return book.findings }
        }
        note(facts.own, in: &book)
        note(facts.state, in: &book)
        noteMissingState(in: &book)
        return book.findings
    }

    private func noteMissingState(in book: inout FindingBook) {
        guard facts.state.kind == nil, facts.state.refusal == nil else { return }
        let path = facts.state.path
        if !facts.stateParent.isFolder {
            book.fault(
                "the state folder \(path) cannot be created: its parent does not exist",
                hint: "create it: install -d -m 700 -o <user> \(path), or set `state:`")
        } else if set.daemon.cluster == nil, hasDaemon == true {
            book.fault(
                "the state folder \(path) was removed while the daemon runs",
                hint: "put it back, or restart the daemon, which makes an empty one and then knows no sent `id`")
        } else if set.daemon.cluster == nil, facts.own.isFolder {
            book.warn(
                "the state folder \(path) is missing, although a daemon has run as this node",
                hint: "put it back: otherwise the next start makes an empty one, and then knows no sent `id`")
        }
    }

    private func note(_ folder: FolderFacts, in book: inout FindingBook) {
        if let refusal = folder.refusal {
            book.fault(
                "\(folder.path) cannot be used: \(refusal)", hint: "make it a folder of the daemon's user, mode 0700")
        } else if folder.isFolder, folder.mode & 0o077 != 0 {
            book.fault(
                "\(folder.path) is open to others (mode \(folder.modeText))", hint: "chmod 700 \(folder.path)")
        } else if folder.isFolder, folder.owner != facts.daemonUser {
            book.fault(
                "\(folder.path) belongs to user \(Host.userText(folder.owner)), but the daemon is user "
                    + Host.userText(facts.daemonUser),
                hint: "chown -R \(facts.daemonUser) \(folder.path)")
        } else if folder.isFolder {
            book.ok("\(folder.path) is private to the daemon")
        }
    }

    private func permissionFindings(of app: AppFolderFacts) -> [DoctorFinding] {
        guard app.home.isFolder else { return [] }
        var book = FindingBook(.permissions, of: app.app)
        for (name, mode) in AppFolderFacts.names {
            guard let folder = app.inner[name] else { continue }
            FolderJudgement(folder: folder, name: name, mode: mode, user: facts.daemonUser).note(in: &book)
        }
        let moved = AppFolderFacts.names.dropLast().filter { place in
            app.inner[place.name].map { $0.isFolder && $0.device != app.home.device } ?? false
        }
        if !moved.isEmpty {
            book.fault(
                "on another filesystem than \(app.home.path): \(moved.map(\.name).joined(separator: ", "))",
                hint: "keep new, work, hold, done and failed on one filesystem, without mounts below the app's folder")
        }
        if book.findings.isEmpty { book.ok("owners and modes of its folders are correct") }
        return book.findings
    }
}

/// Evaluates one of an app's folders.
private struct FolderJudgement {
    let folder: FolderFacts
    let name: String
    /// The mode with which the daemon creates it.
    let mode: String
    let user: UInt32

    private var isOfProducers: Bool { name == "new" || name == "tmp" }

    func note(in book: inout FindingBook) {
        let (path, text) = (folder.path, folder.modeText)
        if let refusal = folder.refusal {
            return book.fault("\(path) cannot be accessed: \(refusal)", hint: "check its parents' permissions")
        }
        switch folder.kind {
        case .directory?: break
        case nil:
            return book.warn(
                "\(path) is missing", hint: "restart the daemon, which creates it, or run: mkdir -m \(mode) \(path)")
        case let kind?:
            return book.fault(
                "\(path) is a \(kind.rawValue), not a folder", hint: "create a folder in its place")
        }
        if folder.owner != user {
            return book.fault(
                "\(path) belongs to user \(Host.userText(folder.owner)), but the daemon is user \(Host.userText(user))",
                hint: "chown \(user) \(path)")
        }
        if folder.mode & 0o700 != 0o700 {
            return book.fault(
                "the daemon cannot \(isOfProducers ? "take jobs out of" : "write to") \(path) (mode \(text))",
                hint: remedy("chmod u+rwx", "chmod \(mode)"))
        }
        let open: UInt32 = isOfProducers ? 0o002 : 0o022
        if folder.mode & open != 0 {
            return book.warn(
                "\(isOfProducers ? "anyone" : "users other than the daemon") can write to \(path) (mode \(text))",
                hint: remedy(isOfProducers ? "chmod o-w" : "setfacl -m g::rx,o::rx", "chmod \(mode)"))
        }
        // Those whom an access list names need not be in the group.
        let wanted: UInt32 = folder.hasAccessList ? 0o3700 : 0o3770
        guard isOfProducers, folder.mode & wanted != wanted || folder.mode & 0o4000 != 0 else { return }
        book.warn(
            "\(path) has mode \(text): producers in its group cannot drop jobs, or can remove each other's",
            hint: "\(remedy("chmod g+s,+t", "chmod \(mode)")), and chgrp it to the producers' group")
    }

    /// The command for the folder. A mode in digits would change the mask of an access list, and so what others may do.
    private func remedy(_ withList: String, _ plain: String) -> String {
        "\(folder.hasAccessList ? withList : plain) \(folder.path)"
    }
}

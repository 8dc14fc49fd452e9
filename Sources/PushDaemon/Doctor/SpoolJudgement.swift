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

    private var configured: Set<String> { self.set.brokenApps.union(self.set.apps.keys) }

    /// The findings.
    var findings: [DoctorFinding] {
        let root = rootFindings
        guard facts.root.isFolder, facts.root.refusal == nil else { return root }
        let apps = facts.apps.filter { wanted.isEmpty || wanted.contains($0.app) }
        return root + nameFindings(apps) + privateFindings
            + apps.filter { configured.contains($0.app) }
            .flatMap { permissionFindings(of: $0) + ignoredFindings(of: $0) }
    }

    // MARK: Names

    private var rootFindings: [DoctorFinding] {
        var book = FindingBook(.names)
        let path = facts.root.path
        if let refusal = facts.root.refusal {
            book.fault(
                "the spool cannot be read: \(refusal)", hint: "name a folder with `spool:`, and check its permissions")
        } else if facts.root.isFolder {
            book.ok("the spool is \(path), with \(facts.folders.count) apps' folders")
        } else {
            book.fault(
                "the spool \(path) is not there",
                hint: "make it for the daemon's user: install -d -m 755 -o <user> \(path), or set `spool:`")
        }
        return book.findings
    }

    private func nameFindings(_ apps: [AppFolderFacts]) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for facts in apps {
            var book = FindingBook(.names, of: facts.app)
            if let refusal = facts.home.refusal {
                book.fault("its folder cannot be seen: \(refusal)", hint: "check the permissions of the spool")
            }
            switch (configured.contains(facts.app), facts.home.kind) {
            case (_, nil) where facts.home.refusal != nil: break
            case (true, nil): book.ok("has no folder yet: the daemon makes it when it starts")
            case (true, .directory?): book.ok("is configured, and has its folder")
            case (true, let kind?):
                book.fault(
                    "\(facts.home.path) is a \(kind.rawValue), and the daemon follows none",
                    hint: "make a folder in its place; mount --bind what is elsewhere")
            case (false, nil): noteUnknown(facts.app, in: &book)
            case (false, _?):
                book.warn(
                    "\(facts.home.path) has no configuration: it is left alone, and so are jobs in it",
                    hint: "\(set.remedy(forLackOf: facts.app)), or remove the folder")
            }
            findings += book.findings
        }
        return findings + (wanted.isEmpty ? otherFindings : [])
    }

    private func noteUnknown(_ app: String, in book: inout FindingBook) {
        let isMisnamed = set.misnamedFiles[app] != nil
        let near = isMisnamed ? nil : Nearest.word(to: app, among: configured.union(facts.folders).sorted())
        book.fault(
            "there is no such app",
            hint: near.map { "\($0) is one" } ?? "\(set.remedy(forLackOf: app)), or check the name")
    }

    private var otherFindings: [DoctorFinding] {
        guard !facts.others.isEmpty else { return [] }
        var book = FindingBook(.names)
        let names = facts.others.prefix(5).map { Diagnostic.quoted($0) }.joined(separator: ", ")
        book.warn(
            "\(facts.others.count) names in the spool are no apps' folders: \(names)",
            hint: "jobs go to <app>/new/; an app's name has \(AppName.rule)")
        return book.findings
    }

    private func ignoredFindings(of app: AppFolderFacts) -> [DoctorFinding] {
        guard let first = app.ignored.first else { return [] }
        var book = FindingBook(.names, of: app.app)
        let names = app.ignored.prefix(5).map { Diagnostic.quoted("\($0)") }.joined(separator: ", ")
        let more = app.ignored.count > 5 ? ", …" : ""
        book.warn("ignored in new/, \(app.ignored.count): \(names)\(more)", hint: "\(first): \(first.remedy)")
        return book.findings
    }

    // MARK: Permissions

    /// The findings about the folders that only the daemon may use.
    private var privateFindings: [DoctorFinding] {
        var book = FindingBook(.permissions)
        if facts.user != facts.daemonUser {
            let message = "this is user \(facts.user), and the daemon's folders are user \(facts.daemonUser)'s"
            let hint = "run the doctor as that user: what the daemon may not do cannot be seen otherwise"
            if facts.user == 0 { book.warn(message, hint: hint) } else { book.fault(message, hint: hint) }
            // Only root could examine the remaining folders.
            if facts.user != 0 { return book.findings }
        }
        note(facts.own, in: &book)
        note(facts.state, in: &book)
        if facts.state.kind == nil, facts.state.refusal == nil, !facts.stateParent.isFolder {
            book.fault(
                "the state folder \(facts.state.path) cannot be made: the one above it is not there",
                hint: "make it: install -d -m 700 -o <user> \(facts.state.path), or set `state:`")
        }
        return book.findings
    }

    private func note(_ folder: FolderFacts, in book: inout FindingBook) {
        if let refusal = folder.refusal {
            book.fault(
                "\(folder.path) cannot be used: \(refusal)", hint: "it must be a folder of the daemon's user, 0700")
        } else if folder.isFolder, folder.mode & 0o077 != 0 {
            book.fault(
                "\(folder.path) is open to others (mode \(folder.modeText))", hint: "chmod 700 \(folder.path)")
        } else if folder.isFolder, folder.owner != facts.daemonUser {
            book.fault(
                "\(folder.path) belongs to user \(folder.owner), and the daemon is user \(facts.daemonUser)",
                hint: "chown -R \(facts.daemonUser) \(folder.path)")
        } else if folder.isFolder {
            book.ok("\(folder.path) is the daemon's alone")
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
                hint: "keep new, work, hold, done and failed on one, without mounts below the app's folder")
        }
        if book.findings.isEmpty { book.ok("owners and modes of its folders are as they should be") }
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
            return book.fault("\(path) cannot be seen: \(refusal)", hint: "check the permissions of what is above it")
        }
        switch folder.kind {
        case .directory?: break
        case nil:
            return book.warn(
                "\(path) is missing", hint: "restart the daemon, which makes it, or: mkdir -m \(mode) \(path)")
        case let kind?:
            return book.fault(
                "\(path) is a \(kind.rawValue), and the daemon follows none", hint: "make a folder in its place")
        }
        if folder.owner != user {
            return book.fault(
                "\(path) belongs to user \(folder.owner), and the daemon is user \(user)",
                hint: "chown \(user) \(path)")
        }
        if folder.mode & 0o700 != 0o700 {
            return book.fault(
                "the daemon may not \(isOfProducers ? "take jobs out of" : "write to") \(path) (mode \(text))",
                hint: "chmod \(mode) \(path)")
        }
        let open: UInt32 = isOfProducers ? 0o002 : 0o022
        if folder.mode & open != 0 {
            return book.warn(
                "\(isOfProducers ? "anybody" : "others than the daemon") may write to \(path) (mode \(text))",
                hint: "chmod \(mode) \(path)")
        }
        guard isOfProducers, folder.mode & 0o7770 != 0o3770 else { return }
        book.warn(
            "\(path) has mode \(text): producers of its group cannot drop jobs, or can take each other's away",
            hint: "chmod \(mode) \(path), and chgrp it to the group of the producers")
    }
}

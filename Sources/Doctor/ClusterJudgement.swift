import JournalModel
import PushModel
import SpoolModel
import SpoolStore

/// Evaluates a cluster: whether its filesystem is safe for it, which nodes run, and whether they agree on the apps.
struct ClusterJudgement {
    /// The facts.
    let facts: ClusterFacts
    /// The apps of this node.
    let apps: [AppList.App]
    /// The apps to report on; empty: all.
    let wanted: Set<String>

    /// The findings.
    var findings: [DoctorFinding] {
        guard facts.refusal == nil else { return refusalFindings }
        return probeFindings + peerFindings + LeftJobsJudgement(facts: facts, isClustered: true).findings + appFindings
    }

    private var refusalFindings: [DoctorFinding] {
        var book = FindingBook(.cluster)
        book.warn(
            "the other nodes cannot be examined: \(facts.refusal ?? "")",
            hint: "start the daemon once, and run the doctor as its user")
        return book.findings
    }

    private var probeFindings: [DoctorFinding] {
        var book = FindingBook(.cluster)
        guard let probe = facts.probe else { return [] }
        let type = probe.mount?.type ?? "this filesystem"
        if let fault = probe.fault {
            book.fault("several nodes cannot share the spool: \(fault.message)", hint: fault.hint)
        } else {
            book.ok("locks, renames and syncs on \(type) work as several nodes need them")
        }
        for warning in probe.warnings { book.warn(warning.message, hint: warning.hint) }
        if probe.mount?.isLocal == true {
            book.ok("\(type) is a filesystem of this host: all nodes must run here")
        }
        return book.findings
    }

    private var peerFindings: [DoctorFinding] {
        var book = FindingBook(.cluster)
        for peer in facts.peers {
            switch peer.state {
            case .locked?: book.ok("node \(peer.node) runs, or another node finishes its jobs")
            case .free(let beat?)? where beat.end == .alone:
                book.warn(
                    "node \(peer.node) does not run, and worked alone",
                    hint: "if it is a daemon of this spool, set `cluster: true` for it, too; else remove its folder")
            case .free(let beat?)?: note(peer.node, beat, in: &book)
            case .free(nil)?:
                book.warn(
                    "node \(peer.node) does not run, and never worked in a cluster",
                    hint: "if it is a daemon of this spool, set `cluster: true` for it, too; else remove its folder")
            case nil:
                book.warn(
                    "it is unknown whether node \(peer.node) runs", hint: "run the doctor as the daemon's user")
            }
        }
        if facts.peers.isEmpty { book.ok("no other node has worked on this spool yet") }
        return book.findings
    }

    private func note(_ node: String, _ beat: JournalBeat, in book: inout FindingBook) {
        let hint = "start it, or remove it: see pushspool-cluster(7)"
        switch beat.end {
        case .stopped?: book.ok("node \(node) was stopped at \(beat.at.rfc3339)")
        case .finishedAll?: book.ok("node \(node) does not run, and another node has finished its jobs")
        case .triedAll?:
            book.warn("node \(node) does not run, and has jobs that the other nodes cannot finish", hint: hint)
        case .alone?, nil: book.warn("node \(node) died after \(beat.at.rfc3339)", hint: hint)
        }
    }

    /// Each app that another running node has otherwise, or not at all.
    private var appFindings: [DoctorFinding] {
        let running = facts.peers.filter { $0.state == .locked }
        return apps.filter { wanted.isEmpty || wanted.contains($0.name) }.sorted { $0.name < $1.name }.flatMap { app in
            var book = FindingBook(.cluster, of: app.name)
            for peer in running {
                guard let list = peer.apps else { continue }
                switch list.apps.first(where: { $0.name == app.name }) {
                case nil:
                    book.warn(
                        "node \(peer.node) does not have the app: it leaves its jobs alone",
                        hint: "copy apps/\(app.name).yaml and the credentials to it")
                case let other? where other != app:
                    book.warn(
                        "node \(peer.node) has another configuration of the app",
                        hint: "compare apps/\(app.name).yaml and the credentials of both nodes")
                case _?: break
                }
            }
            return book.findings
        }
    }
}

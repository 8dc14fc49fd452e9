package import Document
import ServiceProcess
import SpoolModel
import SpoolStore

extension DaemonConfiguration {
    /// Reads `pushspool.yaml`. Reports faults; a faulty field keeps its default.
    package init(_ document: Node, report: inout Report) {
        self.init()
        var fields = Fields(document, report: report)
        read(&fields)
        report = fields.finish()
    }

    /// Reads the keys.
    mutating func read(_ fields: inout Fields) {
        spool = fields.string("spool", or: spool)
        state = fields.string("state", or: state)
        apps = fields.string("apps", or: apps)
        readNode(&fields)
        readCluster(&fields)
        fields.mapping("limits") { readLimits(&$0) }
        fields.mapping("intake") { intake.read(&$0) }
        fields.mapping("journal") { journal.read(&$0) }
        fields.mapping("feedback") {
            feedbackEvery = $0.duration("every", in: .milliseconds(10)...Self.hour, or: feedbackEvery)
        }
        fields.mapping("archive") { readArchive(&$0) }
        metricsListen = fields.metricsPlace()
        fields.readLog(&logLevel, &logFormat)
        fields.mapping("control") {
            control.folder = $0.string("folder", or: control.folder)
            control.group = $0.string("group")
        }
    }

    fileprivate static let hour = Duration.seconds(3600)

    private mutating func readNode(_ fields: inout Fields) {
        node = fields.string("node")
        if let node, !NodeName.isValid(node) { fields.refuse("node", "is not valid", hint: "use \(NodeName.rule)") }
    }

    /// Reads `cluster: true`, or a mapping with the cluster's terms, which turns the cluster on as well.
    private mutating func readCluster(_ fields: inout Fields) {
        let isMapping = fields.node["cluster"]?.kind == .mapping
        if !isMapping { cluster = fields.boolean("cluster") == true ? ClusterTerms() : nil }
        guard isMapping || fields.isSketch else { return }
        var terms = ClusterTerms()
        fields.mapping("cluster") {
            terms.leaseLength = $0.duration("lease", in: .seconds(1)...Duration.seconds(300), or: terms.leaseLength)
            terms.patience = $0.duration("patience", in: .seconds(10)...Self.hour, or: terms.patience)
        }
        cluster = terms
    }

    private mutating func readLimits(_ fields: inout Fields) {
        if !fields.has("auto", for: "free_space") {
            freeSpace = fields.byteCount("free_space", in: 0...1 << 50).map(Int64.init)
        }
        let size = fields.byteCount("document", in: 1024...DocumentLimits.largestByteCount, or: limits.byteCount)
        let line = fields.byteCount("line", in: 256...1 << 20, or: limits.lineByteCount)
        let depth = fields.integer("nesting", in: 4...DocumentLimits.largestDepth, or: limits.depth)
        limits = DocumentLimits(byteCount: size, lineByteCount: line, depth: depth)
    }

    private mutating func readArchive(_ fields: inout Fields) {
        retention.done = fields.keepTime("keep_done", atLeast: .zero) ?? retention.done
        retention.failed = fields.keepTime("keep_failed", atLeast: .zero) ?? retention.failed
        if cluster != nil, retention.keepsNothing {
            fields.refuse(
                "keep_done", "cannot be 0 in a cluster: another node may still have to find the jobs",
                hint: "keep done and failed jobs for an hour or more")
        }
        guard fields.value("keep_feedback")?.scalarText != "0" else {
            return fields.refuse(
                "keep_feedback", "would delete feedback before any program can read it",
                hint: "write the longest time that your programs need, such as 7d, or forever")
        }
        retention.feedback = fields.keepTime("keep_feedback", atLeast: Self.hour) ?? retention.feedback
    }
}

extension DaemonConfiguration.Journal {
    fileprivate mutating func read(_ fields: inout Fields) {
        syncInterval = fields.duration("sync_interval", in: .zero...Duration.seconds(60), or: syncInterval)
        syncRecords = fields.integer("sync_records", in: 1...1_000_000, or: syncRecords)
        byteCount = fields.byteCount("size", in: 8 << 20...4 << 30, or: byteCount)
    }
}

extension DaemonConfiguration.Intake {
    fileprivate mutating func read(_ fields: inout Fields) {
        let waits = Duration.milliseconds(10)...DaemonConfiguration.hour
        rules.settle = fields.duration("settle", in: waits, or: rules.settle)
        rules.patience = fields.duration("patience", in: waits, or: rules.patience)
        rescan = fields.duration("rescan", in: .milliseconds(100)...DaemonConfiguration.hour, or: rescan)
        rules.requireEnd = fields.choice("require_end", of: IntakeRules.RequireEnd.self, or: rules.requireEnd)
        dedupe = fields.duration("dedupe", in: .zero...(.seconds(366 * 86_400)), or: dedupe)
        comparesFiles = fields.boolean("dedupe_content", or: comparesFiles)
        guard comparesFiles, dedupe == .zero else { return }
        fields.refuse("dedupe_content", "needs intake.dedupe", hint: "set intake.dedupe to a duration, such as 7d")
    }
}

extension Fields {
    /// A duration, or `forever`.
    fileprivate mutating func keepTime(_ key: String, atLeast least: Duration) -> KeepTime? {
        if has("forever", for: key) { return .forever }
        return duration(key, in: least...KeepTime.longest).map(KeepTime.limited)
    }
}

// What the files of the daemon and of the doors have in common.
extension Fields {
    /// Reads `metrics:`; `nil` if metrics are not served.
    mutating func metricsPlace() -> MetricsPlace? {
        mapping("metrics") {
            let isPublic = $0.boolean("public", or: false)
            return $0.scalar("listen", expected: "an address") { text throws(TextFault) in
                try MetricsPlace(parsing: text, isPublic: isPublic)
            }
        } ?? nil
    }

    /// Reads `log:`; what it does not say stays.
    mutating func readLog(_ level: inout LogLevel, _ format: inout LogFormat) {
        mapping("log") {
            level = $0.choice("level", of: LogLevel.self, or: level)
            format = $0.choice("format", of: LogFormat.self, or: format)
        }
    }
}

import Document
import JobFormat
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct SpoolTests {
    let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
    }

    @Test(.catalogue("E39 same-node-twice, the lock alone", checks: []))
    func `a second daemon refuses to start, whatever its node, and leaves nothing`() throws {
        let first = try Spool(path: place.path, node: "host-a")
        for node in ["host-a", "host-b"] {
            let fault = #expect(throws: SpoolFault.self) { _ = try Spool(path: place.path, node: node) }
            #expect(fault?.holder == first.node && fault?.cause?.isLocked == true)
            #expect(fault?.message.contains("as node 'host-a'") == true)
            #expect(fault?.hint.contains("cluster: true") == true && fault?.hint.contains("node:") == false)
        }
        #expect(try first.root.openChild(Array(".pushspool".utf8)).status(of: Array("host-b".utf8)) == nil)
    }

    @Test func `a daemon that works alone and a node of a cluster refuse each other`() throws {
        var terms = ClusterTerms()
        terms.patience = .milliseconds(200)
        do {
            let alone = try Spool(path: place.path, node: "a")
            let fault = #expect(throws: SpoolFault.self) { _ = try Spool(path: place.path, node: "b", cluster: terms) }
            #expect(fault?.holder == alone.node && fault?.cause?.isLocked == true)
        }
        let node = try Spool(path: place.path, node: "b", cluster: terms)
        let fault = #expect(throws: SpoolFault.self) { _ = try Spool(path: place.path, node: "a") }
        #expect(fault?.holder == node.node && fault?.hint.contains("cluster: true") == true)
        _ = try Spool(path: place.path, node: "c", cluster: terms)
    }

    @Test func `a node that has gone for good is removed with all that it had`() throws {
        do {
            let gone = try Spool(path: place.path, node: "gone", journalByteCount: 8 << 20)
            _ = try gone.app("weather")
            try gone.publish(AppList(node: "gone", limits: DocumentLimits()))
            try Ballast(in: gone.privateDirectory).restore()
        }
        let own = try Spool(path: place.path, node: "own", journalByteCount: 8 << 20)
        let lock = try #require(try PeerFolder("gone", of: own)?.lock())
        try Spool(inPlaceOf: lock, beside: own, nil).removeNode()
        let common = try own.root.openChild(Array(".pushspool".utf8))
        #expect(try common.names().map { String(decoding: $0, as: UTF8.self) }.sorted() == ["own", "public"])
        #expect(try common.openChild(Array("public".utf8)).names() == [Array("own".utf8)])
        let work = try own.root.openChild(Array("weather".utf8)).openChild(Array("work".utf8))
        #expect(try work.names() == [])
    }

    @Test func `a daemon that has gone leaves its name free`() throws {
        do { _ = try Spool(path: place.path, node: "host-a") }
        _ = try Spool(path: place.path, node: "host-a")
    }

    @Test(arguments: ["", ".", "..", "a/b", "-a", "public", "a b", String(repeating: "n", count: 65)])
    func `a node is called like a host`(node: String) {
        #expect(throws: SpoolFault.self) { _ = try Spool(path: place.path, node: node) }
    }

    @Test func `only folders with an app's name are apps`() throws {
        let spool = try Spool(path: place.path, node: "n")
        for name in ["b", "a.b_c-d", "a:b c", ".no", "lost+found", "n\no", "\u{E9}"] {
            _ = try spool.root.makeChild(Array(name.utf8), mode: 0o755)
        }
        try spool.root.put("file")
        #expect(try spool.appNames() == ["a.b_c-d", "a:b c", "b", "\u{E9}"])
    }

    @Test(arguments: [
        ("new", 0o3770), ("tmp", 0o3770), ("work/n", 0o700), ("hold", 0o750), ("done", 0o750), ("failed", 0o750),
        ("feedback", 0o2750), ("../.pushspool", 0o755), ("../.pushspool/n", 0o700), ("../.pushspool/public/n", 0o755),
    ])
    func `folders are made with the rights they need`(path: String, mode: Int) throws {
        let spool = try Spool(path: place.path, node: "n")
        _ = try spool.app("weather")
        #expect(try Directory.open(path: "\(place.path)/weather/\(path)").status().mode == UInt32(mode))
    }

    @Test func `opening an app leaves nothing behind and changes nothing twice`() throws {
        let spool = try Spool(path: place.path, node: "n")
        let app = try spool.app("weather")
        try app.new.setMode(0o770)
        let again = try spool.app("weather")
        #expect(try again.new.status().mode == 0o770)
        #expect(try again.new.names().isEmpty && again.work.names().isEmpty)
        #expect(again.hasNoReplace && again.isNotifying)
    }

    @Test func `a folder with a name of the daemon's own keeps no app from opening`() throws {
        let spool = try Spool(path: place.path, node: "n")
        let app = try spool.app("weather")
        for name in [".probe-n", ".probe-n-0123456789abcdef"] {
            _ = try app.new.makeChild(Array(name.utf8), mode: 0o755)
        }
        let again = try spool.app("weather")
        #expect(again.hasNoReplace)
        #expect(try again.new.sortedNames() == [".probe-n", ".probe-n-0123456789abcdef"])
        #expect(try again.work.names().isEmpty && again.holdDirectory.names().isEmpty)
    }

    @Test func `what a crash has left of opening an app goes with the next, and no other's`() throws {
        let spool = try Spool(path: place.path, node: "n")
        let app = try spool.app("weather")
        let others = [
            ".probe-m", ".probe-m-0123456789abcdef", ".probe-n-0123456789ABCDEF", ".probe-n-0123456789abcdef0",
            ".probe-n-1", ".probe-n-1-0123456789abcdef", ".probe-n0123456789abcdef",
        ]
        for folder in [app.new, app.holdDirectory] {
            for name in others + [".probe-n", ".probe-n-0123456789abcdef"] { try folder.put(name) }
        }
        _ = try spool.app("weather")
        #expect(try app.new.sortedNames() == others.sorted())
        #expect(try app.holdDirectory.sortedNames() == others.sorted())
    }

    #if FAILPOINTS
        /// The names of the files that opening an app makes in `new/`.
        private func namesMade(by spool: Spool) throws -> [[UInt8]] {
            let plan = FailPlan(under: place.path + "/weather/new", isRecording: true)
            plan.install()
            defer { plan.remove() }
            _ = try spool.app("weather")
            return plan.changes.compactMap { change -> [UInt8]? in
                guard case .created(_, let name, _) = change else { return nil }
                return name
            }
        }

        @Test func `nobody knows what the next file of the daemon's own will be called`() throws {
            let spool = try Spool(path: place.path, node: "n")
            _ = try spool.app("weather")
            var names: [[UInt8]] = []
            for _ in 0..<10 { names += try namesMade(by: spool) }
            #expect(names.count == 10 && Set(names).count == 10)
        }

        /// Opens an app where the n-th operation is not there; `nil` if that was too early for it.
        private func open(_ spool: Spool, without number: Int) -> AppSpool? {
            let plan = FailPlan(under: place.path, points: FailPoint.list("\(number):einval") ?? [])
            plan.install()
            defer { plan.remove() }
            return try? spool.app("weather")
        }

        @Test func `where no rename refuses a taken name, claims go by names that nobody else makes`() throws {
            let spool = try Spool(path: place.path, node: "n")
            let app = try #require(
                (1...100).lazy.compactMap { open(spool, without: $0) }.first { !$0.hasNoReplace })
            try app.new.put("a.json", "{}")
            guard case .opened(let job) = try app.open(try fileName("a.json")) else { return #expect(Bool(false)) }
            guard case .claimed(let claimed) = try spool.claim(job, as: JobID(bits: 7), in: app) else {
                return #expect(Bool(false))
            }
            #expect(claimed.entry.bytes.starts(with: "\(JobID(bits: 7))-".utf8))
            #expect(try spool.claimed(in: app).jobs == [claimed] && app.new.names().isEmpty)
        }
    #endif
}

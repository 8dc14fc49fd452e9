import JobFormat
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct RefusalTests {
    let spool: TestSpool
    var app: AppSpool { spool.app }

    init() throws {
        spool = try TestSpool()
    }

    /// What is no file at all but has a job's name.
    enum Special: CaseIterable {
        case pipe, socket, device, folder, dangling, cyclic

        var kind: FileStatus.Kind {
            switch self {
            case .pipe: .pipe
            case .socket: .socket
            case .device: .device
            case .folder: .directory
            case .dangling, .cyclic: .symbolicLink
            }
        }

        func make(in spool: TestSpool) throws {
            let path = "weather/new/x.json"
            switch self {
            case .pipe: try spool.place.makePipe(path)
            case .socket: try spool.place.makeSocket(path)
            case .device: try spool.place.makeDevice(path)
            case .folder: _ = try spool.app.new.makeChild(Array("x.json".utf8), mode: 0o700)
            case .dangling: try spool.place.link(path, to: "nowhere")
            case .cyclic: try spool.place.link(path, to: "x.json")
            }
        }
    }

    @Test(
        .catalogue("G56 special-files, the move alone", checks: [.onePlace]), .timeLimit(.minutes(10)),
        arguments: Special.allCases)
    func `what is no file goes to failed as it is, never opened`(special: Special) throws {
        do {
            try special.make(in: spool)
        } catch let error as SystemError where special == .device && error.isPermission {
            return
        }
        guard case .special(special.kind) = try app.open(try fileName("x.json")) else { return #expect(Bool(false)) }
        let sighting = try #require(try spool.sightings().first)
        let refusal = try spool.refuse(sighting)
        guard case .moved(let place) = refusal else { return #expect(Bool(false), "\(refusal)") }
        let failed = try spool.folder("failed/2026-11-21")
        #expect(try failed.status(of: place.name.bytes)?.kind == special.kind)
        #expect(try failed.text("x.json.result.json")?.contains(#""because""#) == true)
        #expect(try app.new.names().isEmpty)
    }

    @Test func `a good job that took a bad one's name is not refused`() throws {
        try spool.place.link("weather/new/x.json", to: "nowhere")
        let sighting = try #require(try spool.sightings().first)
        try app.new.unlink(Array("x.json".utf8))
        try app.new.put("x.json", "{}")
        #expect(try spool.refuse(sighting) == .changed(sighting.name))
        #expect(try app.new.text("x.json") == "{}")
        #expect(try spool.folder("failed/2026-11-21").names().isEmpty)
    }

    @Test func `what has gone needs no refusal`() throws {
        try app.new.put("x.json", "{}")
        let sighting = try #require(try spool.sightings().first)
        try app.new.unlink(Array("x.json".utf8))
        #expect(try spool.refuse(sighting) == .gone)
        #expect(try spool.folder("failed/2026-11-21").names().isEmpty)
    }
}

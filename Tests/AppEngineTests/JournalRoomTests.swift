import JournalModel
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@testable import AppEngine
@testable import LinuxIO

/// When an app says that it waits, and for what.
@Suite struct JournalRoomTests {
    private let folder: TemporaryDirectory
    private let room: JournalRoom
    private let reactor: Reactor

    init() throws {
        folder = try TemporaryDirectory()
        reactor = try Reactor()
        let spool = try Spool(path: folder.path, node: "node-a", journalByteCount: 8 << 20)
        room = JournalRoom(of: "weather", in: spool.journal)
    }

    /// Long after every wait of the test has begun.
    private var later: Moment { .now + .seconds(60) }

    private static let reasons: [(use: JournalUse, reason: String)] = [
        (.claims, "waits for room in the journal to claim more jobs"),
        (.sending, "waits for room in the journal to send more"),
        (.outcomes, "waits for room in the journal to record outcomes"),
    ]

    @Test(arguments: reasons)
    func `a wait for room in the journal has a reason until there is room`(use: JournalUse, reason: String) {
        defer { reactor.stop() }
        let wakeup = Wakeup(on: reactor)
        let (hasRoom, isTold) = (room.has(1 << 40, for: use, orWake: wakeup.signal), room.hasNews(at: later))
        #expect(!hasRoom && isTold)
        #expect(room.reason == reason && room.hint?.contains("journal.size") == true)
        let (hasRoomThen, isEndTold) = (room.has(1, for: use, orWake: wakeup.signal), room.hasNews(at: later))
        #expect(hasRoomThen && isEndTold && room.reason == nil && room.hint == nil)
    }

    @Test func `a wait for feedback to be written has a reason until it is`() {
        defer { reactor.stop() }
        room.note(tooManyLines: true)
        let isTold = room.hasNews(at: later)
        #expect(isTold && room.hint?.contains("free space of feedback/") == true)
        #expect(room.reason == "waits for feedback/ to be written before it reads or records more")
        room.note(tooManyLines: false)
        let isEndTold = room.hasNews(at: later)
        #expect(isEndTold && room.reason == nil)
    }

    @Test func `a wait for the hooks of other apps has a reason until the hook begins`() {
        defer { reactor.stop() }
        let (isNew, isNewAgain) = (room.note(hookWaits: true), room.note(hookWaits: true))
        let isTold = room.hasNews(at: later)
        #expect(isNew && !isNewAgain && isTold && room.hint?.contains("check which hooks are slow") == true)
        #expect(room.reason == "waits for the hooks of other apps before it runs its own")
        let (isOver, isEndTold) = (room.note(hookWaits: false), room.hasNews(at: later))
        #expect(isOver && isEndTold && room.reason == nil)
    }

    @Test func `a wait is told once, and not at all if it is over within a second`() {
        defer { reactor.stop() }
        room.beginWait(for: .claims)
        let isShortTold = room.hasNews(at: .now)
        #expect(!isShortTold && room.reason == nil && room.nextNews != nil)
        room.endWait(for: .claims)
        let isEndTold = room.hasNews(at: later)
        #expect(!isEndTold && room.nextNews == nil)
        room.beginWait(for: .claims)
        let (isTold, isToldAgain) = (room.hasNews(at: later), room.hasNews(at: later))
        #expect(isTold && !isToldAgain && room.nextNews == nil)
    }

    @Test func `of several waits the longest is shown, and the next when that is over`() {
        defer { reactor.stop() }
        for use in [JournalUse.sending, .claims] { room.beginWait(for: use) }
        let isTold = room.hasNews(at: later)
        #expect(isTold && room.reason == Self.reasons[1].reason)
        room.endWait(for: .sending)
        let isToldAgain = room.hasNews(at: later)
        #expect(!isToldAgain && room.reason == Self.reasons[0].reason)
    }
}

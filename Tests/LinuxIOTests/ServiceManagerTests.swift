import Glibc
import TestSupport
import Testing

@testable import LinuxIO

struct ServiceManagerTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    @Test func `messages come as one datagram of lines, under a path`() throws {
        let path = folder.path + "/notify"
        let socket = try DatagramSocket(path)
        let manager = try ServiceManager(socket: path, heartbeat: nil)
        try manager.notify([.ready, .status("2 apps\nand more")])
        try manager.notify([.stopping, .needs(.milliseconds(1500))])
        try manager.notify([.alive])
        #expect(
            socket.received() == [
                "READY=1\nSTATUS=2 apps and more", "STOPPING=1\nEXTEND_TIMEOUT_USEC=1500000", "WATCHDOG=1",
            ])
    }

    @Test func `a name behind an @ is one of the abstract namespace`() throws {
        let name = "@" + folder.path
        let socket = try DatagramSocket(name)
        try ServiceManager(socket: name, heartbeat: nil).notify([.ready])
        #expect(socket.received() == ["READY=1"])
    }

    @Test func `a reload is told with the time of the clock that the manager compares it with`() throws {
        let path = folder.path + "/notify"
        let socket = try DatagramSocket(path)
        let before = MonotonicClock.nanoseconds() / 1000
        try ServiceManager(socket: path, heartbeat: nil).notify([.reloading])
        let after = MonotonicClock.nanoseconds() / 1000
        let text = try #require(socket.received().first)
        #expect(text.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        let time = try #require(text.split(separator: "=").last.flatMap { Int64($0) })
        #expect((before...after).contains(time))
    }

    @Test func `a manager that has gone, and one that reads again, are told apart`() throws {
        let path = folder.path + "/notify"
        let manager = try ServiceManager(socket: path, heartbeat: nil)
        #expect(throws: SystemError.self) { try manager.notify([.ready]) }
        let socket = try DatagramSocket(path)
        try manager.notify([.ready])
        #expect(socket.received() == ["READY=1"])
    }

    @Test func `a manager that does not read is waited for a moment only`() throws {
        let path = folder.path + "/notify"
        let socket = try DatagramSocket(path)
        let manager = try ServiceManager(socket: path, heartbeat: nil)
        var sentCount = 0
        var error: SystemError?
        while error == nil, sentCount < 100_000 {
            do throws(SystemError) {
                try manager.notify([.alive])
                sentCount += 1
            } catch let failure {
                error = failure
            }
        }
        #expect(error?.code == EAGAIN)
        #expect(socket.received().count == sentCount)
        try manager.notify([.alive])
    }

    @Test func `a manager that does not read is not waited for if the caller may not wait`() throws {
        let path = folder.path + "/notify"
        let socket = try DatagramSocket(path)
        let manager = try ServiceManager(socket: path, heartbeat: nil)
        var sentCount = 0
        while (try? manager.notify([.alive], waits: false)) != nil { sentCount += 1 }
        // Waiting for each would take minutes.
        for _ in 0..<1_000 {
            let error = #expect(throws: SystemError.self) { try manager.notify([.alive], waits: false) }
            #expect(error?.code == EAGAIN)
        }
        #expect(socket.received().count == sentCount)
    }

    @Test(arguments: [
        ("", EAFNOSUPPORT), ("@", EAFNOSUPPORT), ("/", EAFNOSUPPORT), ("notify", EAFNOSUPPORT),
        ("vsock:2:1234", EAFNOSUPPORT), ("/" + String(repeating: "n", count: 107), ENAMETOOLONG),
    ])
    func `a name that no socket has is refused`(name: String, code: Int32) {
        let error = #expect(throws: SystemError.self) { _ = try ServiceManager(socket: name, heartbeat: nil) }
        #expect(error?.code == code)
    }

    @Test func `the longest name is taken`() throws {
        let name = "@" + String(repeating: "n", count: 106 - 36) + String(folder.path.suffix(36))
        let socket = try DatagramSocket(name)
        try ServiceManager(socket: name, heartbeat: nil).notify([.ready])
        #expect(socket.received() == ["READY=1"])
    }

    @Test(
        arguments: [
            ("3000000", "7", .milliseconds(1500)), ("3000000", nil, .milliseconds(1500)), ("3000000", "8", nil),
            ("3000000", "", nil), ("0", "7", nil), ("-4", "7", nil), ("1m", "7", nil),
            ("18446744073709551615", "7", nil),
            (nil, "7", nil),
        ] as [(String?, String?, Duration?)])
    func `a heartbeat is half of the time given to this process`(
        microseconds: String?, process: String?, heartbeat: Duration?
    ) {
        #expect(ServiceManager.heartbeat(microseconds, process: process, own: 7) == heartbeat)
    }
}

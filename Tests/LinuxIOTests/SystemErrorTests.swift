import Glibc
import LinuxIO
import TestSupport
import Testing

struct SystemErrorTests {
    @Test func `an error names call, subject, reason and symbol`() {
        let error = SystemError(code: EACCES, operation: "open", subject: "/x")
        #expect(error.description == "open /x: Permission denied (EACCES)")
    }

    @Test func `without a subject there is no gap`() {
        #expect(SystemError(code: EMFILE, operation: "dup").description == "dup: Too many open files (EMFILE)")
    }

    @Test(arguments: [
        ("a%é b", "a%é b"), ("a\u{1B}[2J", "a%1B[2J"), ("a\u{9B}2J", "a%C2%9B2J"), ("a\u{202E}b", "a%E2%80%AEb"),
        ("a\u{2028}b c", "a%E2%80%A8b%20c"),
    ])
    func `no name in an error is obeyed by a terminal`(name: String, told: String) throws {
        let place = try TemporaryDirectory()
        let error = #expect(throws: SystemError.self) { _ = try place.directory.openChild(Array(name.utf8)) }
        #expect(error?.subject == place.path + "/" + told)
    }

    @Test func `an unknown number stays a number`() {
        #expect(SystemError(code: 9999, operation: "x").description == "x: unknown error (errno 9999)")
    }

    @Test func `a dropped descriptor is closed: its pipe's reader sees the end`() throws {
        var numbers: [Int32] = [-1, -1]
        try #require(unsafe pipe(&numbers) == 0)
        let reader = Descriptor(adopting: numbers[0])
        do {
            let writer = Descriptor(adopting: numbers[1])
            #expect(writer.rawValue == numbers[1])
        }
        var byte: UInt8 = 0
        #expect(unsafe read(reader.rawValue, &byte, 1) == 0)
    }
}

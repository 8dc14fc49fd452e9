import Glibc

/// The machine and the process.
package enum Host {
    /// The host's name up to its first dot (gethostname(2)); `localhost` if it has none.
    package static var name: String {
        var bytes = [CChar](repeating: 0, count: 256)
        let code = unsafe gethostname(&bytes, bytes.count - 1)
        guard code == 0 else { return "localhost" }
        let name = bytes.prefix { $0 != 0 && $0 != 0x2E }.map { UInt8(bitPattern: $0) }
        return name.isEmpty ? "localhost" : String(decoding: name, as: UTF8.self)
    }

    /// This process's number.
    package static var processID: Int32 { getpid() }

    /// The user that the process acts as (geteuid(2)).
    package static var userID: UInt32 { geteuid() }

    /// Gives the calling thread nothing to do for the rest of the program; handlers of signals may still use it.
    package static func park() -> Never {
        while true { pause() }
    }

    /// Ends the program.
    package static func leave(with status: Int32) -> Never {
        exit(status)
    }
}

import Foundation

/// A library before libc's, built of a source in C, that makes system calls go wrong while there are files that say so.
///
/// The source finds their folder in the environment variable `SABOTAGE`.
package struct SabotageLibrary: Sendable {
    /// The source does not compile.
    package struct Fault: Error {
        /// What the compiler says.
        package let log: String
    }

    private let folder: String

    /// Builds it.
    ///
    /// - Parameters:
    ///   - source: the library, in C.
    ///   - folder: where it and the files are to be; made here.
    /// - Throws: `Fault`; what keeps the compiler from being run.
    package init(_ source: String, in folder: String) async throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(source.utf8).write(to: URL(fileURLWithPath: folder + "/sabotage.c"))
        let log = folder + "/cc.log"
        try Data().write(to: URL(fileURLWithPath: log))
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = [
            "cc", "-shared", "-fPIC", "-o", folder + "/sabotage.so", folder + "/sabotage.c", "-ldl",
        ]
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        compiler.standardError = errors
        try compiler.run()
        try errors.close()
        try await eventually("the end of the compiler") { !compiler.isRunning }
        guard compiler.terminationStatus == 0 else {
            throw Fault(log: try String(contentsOfFile: log, encoding: .utf8))
        }
    }

    /// What makes a program use it.
    package var environment: [String: String] {
        ["LD_PRELOAD": folder + "/sabotage.so", "SABOTAGE": folder]
    }

    /// Lets something go wrong from now on.
    ///
    /// - Parameters:
    ///   - fault: the name of the file that says so.
    ///   - detail: what is in the file.
    /// - Throws: what keeps the file from being written.
    package func begin(_ fault: some RawRepresentable<String>, _ detail: String = "") throws {
        try Data(detail.utf8).write(to: URL(fileURLWithPath: path(fault)))
    }

    /// Lets nothing go wrong any more.
    ///
    /// - Throws: what keeps the file from being removed; it has gone already.
    package func end(_ fault: some RawRepresentable<String>) throws {
        try FileManager.default.removeItem(atPath: path(fault))
    }

    /// Whether it still goes wrong: a source may take the file away itself.
    package func isOn(_ fault: some RawRepresentable<String>) -> Bool {
        FileManager.default.fileExists(atPath: path(fault))
    }

    private func path(_ fault: some RawRepresentable<String>) -> String {
        "\(folder)/\(fault.rawValue)"
    }
}

import ArgumentParser
import CommandProgram
import JobFormat
import LinuxIO
import ServiceProcess
import SpoolInspection

/// Reads names from standard input if `-` is among a command's names.
struct NameInput: ParsableArguments {
    private static let byteLimit = 64 << 20

    @Flag(
        name: [.customShort("0"), .customLong("null")],
        help: "Names on standard input end in NUL bytes instead of line feeds.")
    var null = false

    /// Returns all names, each once. Names that differ only in their bytes are distinct, as file names are.
    ///
    /// - Throws: `ExitCode`, after reporting that standard input is too long or cannot be read.
    func all(of arguments: [String]) throws -> [String] {
        var seen: Set<[UInt8]> = []
        return try arguments.flatMap { try $0 == "-" ? names() : [$0] }.filter { seen.insert(Array($0.utf8)).inserted }
    }

    private func names() throws -> [String] {
        let bytes = try content()
        guard !null else { return bytes.split(separator: 0).map(Self.text) }
        guard !bytes.contains(0) else {
            Talk.complain("standard input contains NUL bytes", hint: "if the names end in NUL, use -0")
            throw ExitCode.badInput
        }
        return bytes.split(separator: UInt8(ascii: "\n")).map { line in
            // Lines may end with CR LF.
            Self.text(of: line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        }
        .filter { !$0.isEmpty }
    }

    private func content() throws -> [UInt8] {
        do {
            let bytes = try StandardStream.input.readToEnd(limit: Self.byteLimit)
            if bytes.count <= Self.byteLimit { return bytes }
            Talk.complain("standard input has more than 64 MiB of names", hint: "split them over several runs")
        } catch {
            Talk.complain("\(error)", hint: "check the source of standard input")
        }
        throw ExitCode.badInput
    }

    /// A name as text. Invalid UTF-8 is escaped.
    private static func text(of name: ArraySlice<UInt8>) -> String {
        if let text = String(validating: name, as: UTF8.self) { return text }
        let parts = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.map { FileName(bytes: Array($0))?.escaped ?? "" }.joined(separator: "/")
    }
}

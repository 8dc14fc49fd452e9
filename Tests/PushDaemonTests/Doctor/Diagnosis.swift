import Foundation
import TestSupport

/// What the doctor printed as JSON.
struct Diagnosis: Decodable {
    var v: Int
    var severity: String
    var findings: [Finding]

    struct Finding: Decodable, Equatable {
        var severity: String
        var area: String
        var app: String?
        var message: String
        var hint: String?
    }

    /// What is not as it should be, but for warnings about the machine that the tests run on: nothing may keep its
    /// clock, and its disk may be slow.
    var complaints: [Finding] {
        let machine = ["clock", "filesystem", "limits"]
        return findings.filter { $0.severity == "fault" || ($0.severity == "warn" && !machine.contains($0.area)) }
    }
}

extension Bench {
    /// Lets the doctor look at the bench.
    ///
    /// - Parameters:
    ///   - arguments: More of its command line, such as apps.
    ///   - shell: What a shell does before, such as lowering a limit.
    ///   - sabotage: What makes system calls go wrong.
    /// - Returns: Its exit code, and what it has found.
    /// - Throws: `NotInTime`; what it prints is no diagnosis.
    func doctor(
        _ arguments: [String] = [], shell: String = ":", _ sabotage: Sabotage? = nil
    ) async throws -> (code: Int32, diagnosis: Diagnosis) {
        let command = [try BuiltProgram.path, "doctor", "--config", "\(path)/etc/pushspool.yaml", "--json"]
        let wrapped = ["sh", "-c", shell + #" && exec "$0" "$@""#] + command + arguments
        let environment = sabotage?.environment ?? []
        let program = try Program("/usr/bin/env", environment + wrapped, logs: path + "/logs")
        let code = try await program.end()
        let diagnosis = try JSONDecoder().decode(Diagnosis.self, from: Data(program.text.utf8))
        return (code, diagnosis)
    }
}

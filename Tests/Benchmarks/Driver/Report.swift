import LinuxIO
import PushModel

/// What became of a run's notifications, and what it has cost.
struct Report: Sendable {
    private let count: Int
    private var outcomes: [String: Int] = [:]
    /// How many connections were made.
    var connectionCount = 0
    /// Why connections ended that the gateway ended.
    var faults: [String] = []
    /// User and system time of the whole process.
    var times = ProcessTimes.now() - ProcessTimes.now()
    /// Time as clocks measure it.
    var wall = Duration.zero

    init(count: Int) {
        self.count = count
    }

    /// Counts outcomes; a refusal counts under its reason.
    mutating func count(_ settlements: [Settlement]) {
        for settlement in settlements {
            outcomes[settlement.outcome.refusal?.reason ?? settlement.outcome.kind.rawValue, default: 0] +=
                settlement.batch.count
        }
    }

    /// Whether each notification has an outcome.
    var isComplete: Bool { outcomes.values.reduce(0, +) >= count }

    /// One JSON object with the same names as the C programs'.
    func json(of transport: Transport) -> String {
        let cpu = (times.user + times.system) / .seconds(1)
        let counts = outcomes.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return """
            {"peer":"pushspool","\(transport.unit)":\(count),"bytes":\(count * transport.unitByteCount),\
            "cpu_seconds":\(rounded(cpu)),"user_seconds":\(rounded(times.user / .seconds(1))),\
            "system_seconds":\(rounded(times.system / .seconds(1))),"wall_seconds":\(rounded(wall / .seconds(1))),\
            "\(transport.unit)_per_cpu_second":\(Int(Double(count) / max(cpu, 0.000_1))),\
            "outcomes":{\(counts)},"connections":\(connectionCount),"faults":\(faults.count)}
            """
    }

    private func rounded(_ seconds: Double) -> Double { (seconds * 10_000).rounded() / 10_000 }
}

import DoorModel
import PushModel
import Synchronization

/// How much each producer has dropped lately, over all doors of the process.
final class ProducerRates: Sendable {
    private let windows = Mutex<[String: RateWindow]>([:])

    /// Takes one notification for a job that a producer wants to drop, if its rate allows it. `settle` must follow.
    ///
    /// - Returns: In how many seconds the producer may try again, at least 1; `nil` if it may drop the job.
    func admit(_ producer: Producer, at now: Moment) -> Int? {
        change(producer) { window -> Int? in
            guard window.available(at: now) > 0 else {
                return max(1, Int((window.next - now).wholeNanoseconds / 1_000_000_000) + 1)
            }
            window.record(1, at: now)
            return nil
        } ?? nil
    }

    /// Records how many notifications the job has that a producer was admitted with; 0 if it was not dropped. They may exceed
    /// the rate, and delay the next job.
    func settle(_ count: Int, of producer: Producer, at now: Moment) {
        _ = change(producer) { window in
            if count == 0 { window.giveBack() } else { window.record(count - 1, at: now) }
        }
    }

    /// Changes the window of a producer; does nothing if the producer has no rate.
    private func change<Result: Sendable>(_ producer: Producer, _ body: (inout RateWindow) -> Result) -> Result? {
        guard let rate = producer.rate else { return nil }
        return windows.withLock { windows in
            var window = windows.removeValue(forKey: producer.name) ?? RateWindow(rate)
            window.rate = rate
            defer { windows[producer.name] = window }
            return body(&window)
        }
    }
}

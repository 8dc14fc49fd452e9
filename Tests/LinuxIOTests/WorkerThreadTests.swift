import Dispatch
import LinuxIO
import Testing

@Suite struct WorkerThreadTests {
    @Test func `an actor does its work on its thread, in order`() async throws {
        let worker = try WorkerThread(name: "test worker")
        let ledger = Ledger(worker: worker)
        for number in 0..<1000 { await ledger.add(number) }
        #expect(await ledger.numbers == Array(0..<1000))
        worker.stop()
    }

    @Test func `many tasks share one thread`() async throws {
        let worker = try WorkerThread(name: "test worker")
        let ledger = Ledger(worker: worker)
        await withTaskGroup { group in
            for number in 0..<1000 { group.addTask { await ledger.add(number) } }
        }
        #expect(await ledger.numbers.sorted() == Array(0..<1000))
        worker.stop()
        worker.stop()
    }

    @Test func `who yields lets what is queued go first`() async throws {
        let worker = try WorkerThread(name: "test worker")
        let ledger = Ledger(worker: worker)
        await ledger.add(0, between: 9) { await ledger.add(5) }
        #expect(await ledger.numbers == [0, 5, 9])
        worker.stop()
    }

    @Test func `the pulse of a thread stands while one piece of work takes its time`() async throws {
        let worker = try WorkerThread(name: "test worker")
        let ledger = Ledger(worker: worker)
        await ledger.add(1)
        let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let held: Void = ledger.hold(entered, gate)
        entered.wait()
        let first = worker.progress
        #expect(first.isAtWork && worker.progress == first)
        gate.signal()
        await held
        await ledger.add(2)
        #expect(worker.progress.finishedCount > first.finishedCount)
        worker.stop()
    }
}

private actor Ledger {
    private let worker: WorkerThread
    var numbers: [Int] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    init(worker: WorkerThread) {
        self.worker = worker
    }

    func add(_ number: Int) {
        worker.preconditionIsolated()
        numbers.append(number)
    }

    /// Adds two numbers, and lets others go in between, who are queued by then.
    func add(_ first: Int, between last: Int, _ other: @escaping @Sendable () async -> Void) async {
        numbers.append(first)
        let task = Task { await other() }
        while numbers.count < 2 { await worker.yield() }
        await task.value
        worker.preconditionIsolated()
        numbers.append(last)
    }

    func hold(_ entered: DispatchSemaphore, _ gate: DispatchSemaphore) {
        entered.signal()
        gate.wait()
    }
}

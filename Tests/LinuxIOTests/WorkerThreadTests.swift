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
}

import PushModel
import SpoolModel
import Testing

@Suite struct JobProgressTests {
    /// Looks by second.
    private func progress(_ looks: KeyValuePairs<Int, Int>) -> JobProgress {
        var progress = JobProgress()
        for (second, count) in looks { progress.note(settledCount: count, at: .zero + .seconds(second)) }
        return progress
    }

    @Test func `one look tells no rate`() {
        let progress = progress([5: 100])
        #expect(progress.rate == nil && progress.remaining(50) == nil)
    }

    @Test func `the rate is that of the last ten seconds`() {
        // 1000/s at first, then 100/s for ten seconds.
        let progress = progress([0: 0, 5: 5000, 10: 5500, 15: 6000])
        #expect(progress.rate == 100 && progress.remaining(250) == .milliseconds(2500))
    }

    @Test func `the rate spans two looks, however far apart they are`() {
        #expect(progress([0: 0, 100: 1000]).rate == 10)
    }

    @Test func `a job that stands still has no end in sight`() {
        let progress = progress([0: 700, 10: 700])
        #expect(progress.rate == 0 && progress.remaining(1) == nil)
    }

    @Test func `outcomes that are taken back are no rate below nothing`() {
        #expect(progress([0: 700, 1: 600]).rate == 0)
    }
}

import APNSHTTP2
import PushHTTP2
import PushModel
import Testing

struct TroubleWatchTests {
    private func moment(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    @Test func `the first failure is told, and later ones ever more rarely`() {
        var watch = TroubleWatch()
        let told = (0..<20_000).filter { watch.failed(isGenuine: true, at: moment($0)).warns }
        #expect(told == [0, 60, 180, 420, 900, 1860, 3780, 7380, 10_980, 14_580, 18_180])
    }

    @Test func `what comes an hour after the last trouble is told as a new one`() {
        var watch = TroubleWatch()
        #expect(watch.failed(isGenuine: true, at: moment(0)).warns)
        let told = [4000, 4059, 4060, 4179, 4180].filter { watch.failed(isGenuine: true, at: moment($0)).warns }
        #expect(told == [4000, 4060, 4180])
    }

    @Test func `answers that are not Apple's stop an app when there are many in a row for a while`() {
        var watch = TroubleWatch()
        // A restart: thousands in a second.
        #expect((0..<5000).allSatisfy { _ in !watch.failed(isGenuine: false, at: moment(1)).stops })
        #expect(!watch.failed(isGenuine: false, at: moment(30)).stops)
        #expect(watch.failed(isGenuine: false, at: moment(31)).stops)
        // It is still there when the app asks again.
        #expect(watch.failed(isGenuine: false, at: moment(14_400)).stops)
    }

    @Test(arguments: [true, false])
    func `an answer of a gateway in between begins a new row`(isJudgement: Bool) {
        var watch = TroubleWatch()
        for second in 0..<29 { _ = watch.failed(isGenuine: false, at: moment(second)) }
        if isJudgement { watch.judged() } else { _ = watch.failed(isGenuine: true, at: moment(29)) }
        #expect(!watch.failed(isGenuine: false, at: moment(40)).stops)
        for second in 41..<70 { #expect(!watch.failed(isGenuine: false, at: moment(second)).stops, "\(second)") }
        #expect(watch.failed(isGenuine: false, at: moment(70)).stops)
    }

    @Test func `a few that come rarely stop nothing`() {
        var watch = TroubleWatch()
        for number in 0..<9 { #expect(!watch.failed(isGenuine: false, at: moment(number * 900)).stops) }
        #expect(watch.failed(isGenuine: false, at: moment(8100)).stops)
    }

    @Test func `failing connections are replaced ever more rarely until something is accepted`() {
        var (watch, random) = (TroubleWatch(), SystemRandomNumberGenerator())
        let backOff = BackOff(first: .seconds(2), ceiling: .seconds(8))
        var replacedAt: [Int] = []
        for second in 0..<600 where watch.mayReplace(at: moment(second), backOff, using: &random) {
            replacedAt.append(second)
        }
        let pauses = zip(replacedAt.dropFirst(), replacedAt).map(-)
        #expect(pauses.first == 1 || pauses.first == 2)
        #expect(pauses.dropFirst(2).allSatisfy { (4...8).contains($0) }, "\(pauses)")
        var news = SessionNews()
        news.accepted = [Work.batch(0..<1)]
        _ = watch.record(news, at: moment(600))
        #expect(watch.mayReplace(at: moment(700), backOff, using: &random))
        #expect(watch.mayReplace(at: moment(702), backOff, using: &random), "the first pause again")
    }
}

import Testing

struct TestHabitsTests {
    @Test func `no test sleeps`() {
        let findings = Repository.swiftFiles.flatMap { TestHabits.sleeps(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
        #expect(TestHabits.sleepers.keys.allSatisfy { path in Repository.swiftFiles.contains { $0.path == path } })
    }

    @Test func `every test is named by a sentence`() {
        let findings = Repository.swiftFiles.flatMap { TestHabits.names(in: $0) }
        #expect(findings.isEmpty, "\(findings.report)")
    }

    @Test(arguments: [
        "try await Task.sleep(for: .seconds(1))", "sleep(1)", "usleep(1)", "Thread.sleep(forTimeInterval: 1)",
    ])
    func `a sleep in a test is found`(code: String) {
        #expect(TestHabits.sleeps(in: .test(code)).count == 1)
        #expect(TestHabits.sleeps(in: .source(code)).isEmpty)
    }

    @Test func `waiting on our own clocks is no sleep`() {
        #expect(TestHabits.sleeps(in: .test("await clock.sleep(until: t); func sleep(until t: T) {}")).isEmpty)
    }

    @Test func `a test with a plain name is found`() {
        #expect(TestHabits.names(in: .test("@Test(arguments: [1]) func itWorks(a: Int) {}")).count == 1)
        #expect(TestHabits.names(in: .test("@Test func `word`() {}")).count == 1)
        #expect(TestHabits.names(in: .test("@Test func `it works`() {}\nfunc helper() {}")).isEmpty)
    }
}

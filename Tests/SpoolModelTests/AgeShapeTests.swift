import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

struct AgeShapeTests {
    @Test(arguments: [
        (-60, 0), (0, 0), (299, 0), (300, 1), (599, 1), (600, 2), (1200, 3), (4799, 4), (4800, 5), (76_799, 8),
        (76_800, 9), (100_000_000, 9),
    ])
    func `a job is counted in the first column that ends after its age`(seconds: Int, column: Int) {
        var shape = AgeShape()
        shape.add(age: .seconds(seconds), of: "a")
        #expect(shape.rows.map(\.counts) == [AgeShape.columns.indices.map { $0 == column ? 1 : 0 }])
    }

    @Test func `the apps with the most jobs come first, then by name, those without jobs too`() {
        var shape = AgeShape()
        for app in ["quiet", "b", "a", "busy"] { shape.add(app: app) }
        for app in ["b", "busy", "a", "busy"] { shape.add(age: .zero, of: app) }
        #expect(shape.rows.map(\.app) == ["busy", "a", "b", "quiet"])
        #expect(shape.rows.map(\.total) == [2, 1, 1, 0])
        #expect(AgeShape().rows.isEmpty && AgeShape().total.total == 0)
    }

    @Test func `the total is the sum of all columns of all apps`() {
        for seed in UInt64(0)..<50 {
            var random = SeededGenerator(seed: seed)
            var (shape, count) = (AgeShape(), 0)
            for _ in 0..<Int.random(in: 0...100, using: &random) {
                let age = Duration.seconds(Int.random(in: -100...200_000, using: &random))
                shape.add(age: age, of: "app\(Int.random(in: 0...3, using: &random))")
                count += 1
            }
            #expect(shape.total.total == count && shape.rows.reduce(0) { $0 + $1.total } == count, "seed \(seed)")
        }
    }
}

struct JobWishesTests {
    @Test func `a job is meant by its name, its app and name, and its id`() throws {
        let queries = JobQueries(["a.json", "news/a.json", "0000000000000000000000002D", "a.json", "b%0A.json"])
        #expect(queries.all.count == 4)
        let (a, b) = (try #require(FileName("a.json")), try #require(FileName("b\n.json")))
        #expect(queries.positions(name: a, id: nil, app: "weather") == [0])
        #expect(queries.positions(name: a, id: nil, app: "news") == [0, 1])
        #expect(queries.positions(name: b, id: JobID(bits: 77), app: "weather") == [2, 3])
        #expect(queries.positions(name: nil, id: JobID(bits: 78), app: "weather").isEmpty)
        #expect(queries.position(of: "news/a.json") == 1 && queries.position(of: "a") == nil)
    }
}

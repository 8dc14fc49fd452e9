import APNSModel
import SpoolModel
import Testing

struct PlacesTests {
    private static func full(_ lane: Lane, pending: Int = 0) -> Int {
        var places = Places(Places.Limits(jobCount: 8, readerCount: 100, byteCount: 100))
        var count = 0
        while places.hasRoom(for: lane, pending: pending) {
            places.begin(lane, byteCount: 0)
            count += 1
        }
        return count
    }

    @Test(arguments: [(Lane.urgent, 8), (.normal, 6), (.bulk, 6)])
    func `a quarter of the places is for urgent jobs`(lane: Lane, count: Int) {
        #expect(Self.full(lane) == count)
        #expect(Self.full(lane, pending: 2) == count - 2)
    }

    @Test(arguments: [(8, 100, 100, 0), (100, 4, 100, 0), (100, 100, 40, 10)])
    func `urgent jobs find room where others are full`(jobs: Int, readers: Int, bytes: Int, each: Int) {
        var places = Places(Places.Limits(jobCount: jobs, readerCount: readers, byteCount: bytes))
        while places.hasRoom(for: .normal, pending: 0) { places.begin(.bulk, byteCount: each) }
        #expect(places.hasRoom(for: .urgent, pending: 0))
        while places.hasRoom(for: .urgent, pending: 0) { places.begin(.urgent, byteCount: each) }
        #expect(!places.hasRoom(for: .normal, pending: 0))
    }

    @Test func `what is read and what is over makes room`() {
        var places = Places(Places.Limits(jobCount: 4, readerCount: 1, byteCount: 100))
        places.begin(.urgent, byteCount: 100)
        #expect(!places.hasRoom(for: .urgent, pending: 0))
        places.close(.urgent, byteCount: 100)
        #expect(places.hasRoom(for: .urgent, pending: 0))
        for _ in 0..<3 { places.begin(.normal, byteCount: 0) }
        for _ in 0..<3 { places.close(.normal, byteCount: 0) }
        #expect(!places.hasRoom(for: .urgent, pending: 0))
        places.end(.normal)
        #expect(places.hasRoom(for: .normal, pending: 0))
    }
}

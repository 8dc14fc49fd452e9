import LinuxIO
import SpoolStore
import TestSupport
import Testing

@Suite struct SpaceWatchTests {
    private let mebibyte: Int64 = 1 << 20

    private func space(_ free: Int64, of all: Int64 = 1 << 40, files: Int64? = nil) -> FilesystemSpace {
        FilesystemSpace(freeByteCount: free, byteCount: all, freeFileCount: files)
    }

    @Test(arguments: [(1 << 30, 64 << 20), (1 << 40, (1 << 40) / 50), (0, 64 << 20)] as [(Int64, Int64)])
    func `the usual floor is a part of the volume, and not too little`(size: Int64, floor: Int64) {
        #expect(SpaceFloor().byteCount(of: space(0, of: size)) == floor)
    }

    @Test func `claiming ends below the floor, and begins again some way above`() {
        var watch = SpaceWatch(floor: SpaceFloor(byteCount: 100 * mebibyte))
        let free = [100 * mebibyte, 100 * mebibyte - 1, 109 * mebibyte, 110 * mebibyte, 100 * mebibyte]
        #expect(free.map { watch.mayClaim(with: space($0)) } == [true, false, false, true, true])
        #expect(!watch.isShort)
    }

    @Test func `files can run out before bytes do`() {
        var watch = SpaceWatch(floor: SpaceFloor())
        let files: [Int64?] = [1000, 999, 1099, 1100, 0, nil]
        let answers = files.map { watch.mayClaim(with: space(1 << 40, files: $0)) }
        #expect(answers == [true, false, false, true, false, true])
    }

    @Test(.enabled(if: SmallVolume.isPossible, "needs root, to mount a small volume"))
    func `a small volume tells how full it is`() throws {
        let volume = try SmallVolume(byteCount: 4 << 20, fileCount: 20)
        var floor = SpaceFloor(byteCount: mebibyte)
        floor.fileCount = 10
        var watch = SpaceWatch(floor: floor)
        var answers = [watch.mayClaim(with: try volume.directory.filesystemSpace())]
        try volume.fill("all")
        answers.append(watch.mayClaim(with: try volume.directory.filesystemSpace()))
        try volume.empty("all")
        try volume.directory.unlink(Array("all".utf8))
        answers.append(watch.mayClaim(with: try volume.directory.filesystemSpace()))
        for number in 0..<12 { try volume.directory.put("file-\(number)") }
        answers.append(watch.mayClaim(with: try volume.directory.filesystemSpace()))
        #expect(answers == [true, false, true, false])
    }
}

#if FAILPOINTS
    import Glibc
    import LinuxIO
    import TestSupport
    import Testing

    @Suite struct FileChangeTests {
        let name = Array("a\nb".utf8)

        private var every: [FileChange] {
            [
                .madeDirectory(directory: "/x", name: name), .created(directory: "/x", name: name, file: .max),
                .opened(directory: "", name: [], file: 0),
                .renamed(directory: "/x", name: name, toDirectory: "/\u{E9}", newName: [0xFF]),
                .linked(directory: "/x", name: name, toDirectory: "/y", newName: name),
                .removed(directory: "/x", name: name), .written(file: 7, offset: 1 << 40, bytes: name),
                .allocated(file: 7, byteCount: 8 << 20), .punched(file: 7, offset: 1, byteCount: 2), .syncedFile(7),
                .syncedDirectory("/x"), .syncedAll,
            ]
        }

        @Test func `a trace is read as it was written`() {
            #expect(FileChange.decode(every.flatMap(\.encoded)) == every)
        }

        @Test func `a trace that was cut off is read up to there`() {
            let trace = every.flatMap(\.encoded)
            for count in trace.indices {
                let changes = FileChange.decode(Array(trace.prefix(count)))
                #expect(changes == Array(every.prefix(changes.count)) && changes.count < every.count, "cut at \(count)")
            }
        }

        @Test func `what was done is recorded in order, and what failed is not`() throws {
            let place = try TemporaryDirectory()
            let plan = FailPlan(under: place.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            let (root, folder) = (place.directory, try place.directory.makeChild(Array("d".utf8), mode: 0o700))
            let file = try root.create(name, mode: 0o600)
            try file.reserve(byteCount: 8)
            try file.write(Array("ab".utf8))
            try file.write(Array("cd".utf8))
            #expect(throws: SystemError.self) { try root.create(name, mode: 0o600).closeNow() }
            try file.syncData()
            try root.rename(name, to: folder, as: name)
            try folder.unlink(name)
            try root.syncFilesystem()
            let inode = try file.status().inode
            #expect(
                plan.changes == [
                    .madeDirectory(directory: place.path, name: Array("d".utf8)), .syncedDirectory(place.path),
                    .created(directory: place.path, name: name, file: inode), .allocated(file: inode, byteCount: 8),
                    .written(file: inode, offset: 0, bytes: Array("ab".utf8)),
                    .written(file: inode, offset: 2, bytes: Array("cd".utf8)), .syncedFile(inode),
                    .renamed(directory: place.path, name: name, toDirectory: place.path + "/d", newName: name),
                    .removed(directory: place.path + "/d", name: name), .syncedAll,
                ])
        }

        @Test func `the environment names a file for the trace`() async throws {
            let (place, records) = (try TemporaryDirectory(), try TemporaryDirectory())
            let (path, trace) = (place.path, records.path + "/trace")
            await #expect(processExitsWith: .success) { [path = path as String, trace = trace as String] in
                unsafe setenv("PUSHSPOOL_TRACE", trace, 1)
                unsafe setenv("PUSHSPOOL_FAILPOINT_UNDER", path, 1)
                try Directory.open(path: path).put("file", "text")
            }
            let bytes = try #require(try records.directory.contents(of: Array("trace".utf8), limit: 1 << 20))
            let inode = try #require(try place.directory.status(of: Array("file".utf8))).inode
            #expect(
                FileChange.decode(bytes) == [
                    .created(directory: path, name: Array("file".utf8), file: inode),
                    .written(file: inode, offset: 0, bytes: Array("text".utf8)),
                ])
        }
    }
#endif

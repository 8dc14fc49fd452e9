#if FAILPOINTS
    import APNSModel
    import LinuxIO
    import SpoolModel
    import SpoolStore
    import TestSupport
    import Testing

    @Suite struct HoldCrashTests {
        /// The journal forgets a job that is held: nothing would know then that the other file is the same job.
        @Test(
            .catalogue("B11 both-dirs-btrfs, a held job", checks: [.onePlace], dice: .fixed),
            arguments: MemoryVolume.Order.allCases)
        func `a held job is in hold alone whatever a power loss leaves`(order: MemoryVolume.Order) throws {
            let test = try TestSpool()
            let name = try fileName("a.json")
            try test.app.new.put("a.json", "{}")
            var volume = try MemoryVolume(copying: test.place.directory, order: order)
            let plan = FailPlan(under: test.place.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            guard case .claimed(let job) = try test.app.claim(try test.opened(name), id: JobID(bits: 1)) else {
                throw NotClaimed()
            }
            #expect(try test.app.hold.park(job) == name)
            try volume.apply(plan.changes)
            for state in volume.crashStates(seed: 1, count: 20) {
                #expect(state.names(in: "weather/hold") == ["a.json"])
                #expect(state.names(in: "weather/new") == [] && state.names(in: "weather/work/host-a") == [])
            }
        }
    }
#endif

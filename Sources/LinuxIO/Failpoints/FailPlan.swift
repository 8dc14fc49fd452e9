#if FAILPOINTS
    import Glibc
    import Synchronization

    /// Failures to inject into the file operations below one directory, and a record of the changes they made.
    ///
    /// In debug builds only. A plan from the environment (`FailPlan+Environment.swift`) applies to the whole process;
    /// tests install their own for their own directory. A recording plan lets one operation through at a time, so that
    /// records are in the order of the changes.
    package final class FailPlan: Sendable {
        private struct State {
            var passedCount = 0
            var changes: [FileChange] = []
        }

        /// The directory whose operations, and those below it, the plan covers; empty for every operation.
        package let scope: String
        /// The operations that fail.
        package let points: [FailPoint]
        /// The syncs that are skipped and report success.
        package let elided: Set<SyncSite>

        private let recording: Recording
        private let state = Mutex(State())
        private let order = Mutex(())

        /// Creates a plan for the operations below `scope`.
        ///
        /// - Parameters:
        ///   - scope: the path, as the program itself spells it.
        ///   - points: the operations that fail.
        ///   - elided: the syncs to leave out.
        ///   - isRecording: whether to keep `changes`.
        package convenience init(
            under scope: String, points: [FailPoint] = [], eliding elided: Set<SyncSite> = [],
            isRecording: Bool = false
        ) {
            self.init(under: scope, points, elided, to: isRecording ? .memory : .nowhere)
        }

        enum Recording: Hashable, Sendable {
            case nowhere
            case memory
            /// A descriptor that is open for the lifetime of the process.
            case file(Int32)
        }

        init(under scope: String, _ points: [FailPoint], _ elided: Set<SyncSite>, to recording: Recording) {
            (self.scope, self.points, self.elided) = (scope, points, elided)
            self.recording = recording
        }

        /// How many operations the plan has counted.
        package var passedCount: Int { state.withLock { $0.passedCount } }

        /// The recorded changes, in order.
        package var changes: [FileChange] { state.withLock { $0.changes } }

        /// Installs the plan, ahead of all plans installed before.
        package func install() {
            installed.withLock { $0.insert(self, at: 0) }
        }

        /// Uninstalls the plan.
        package func remove() {
            installed.withLock { $0.removeAll { $0 === self } }
        }

        /// Returns the first installed plan whose scope covers `subject`.
        static func inForce(for subject: @autoclosure () -> String) -> FailPlan? {
            let plans = installed.withLock { $0 }
            guard !plans.isEmpty else { return nil }
            let subject = subject()
            return plans.first { $0.scope.isEmpty || subject == $0.scope || subject.hasPrefix($0.scope + "/") }
        }

        /// Counts an operation and applies its failpoint, if any.
        ///
        /// - Returns: the error code of the injected failure (errno(3)); `nil` to make the call.
        func failure(of operation: FileOperation) -> Int32? {
            let number = state.withLock { state in
                state.passedCount += 1
                return state.passedCount
            }
            return points.first { $0.concerns(operation, number: number) }?.happen()
        }

        /// Makes a call and records its change. Preserves the errno of the call.
        func recording<Result: SignedInteger & Sendable>(_ change: (Result) -> FileChange?, _ body: () -> Result)
            -> Result
        {
            guard recording != .nowhere else { return body() }
            let (result, code) = order.withLock { _ in
                let result = body()
                let code = errno
                if result >= 0, let change = change(result) { keep(change) }
                return (result, code)
            }
            errno = code
            return result
        }

        private func keep(_ change: FileChange) {
            guard case .file(let file) = recording else { return state.withLock { $0.changes.append(change) } }
            let bytes = change.encoded
            let count = unsafe write(file, bytes, bytes.count)
            precondition(count == bytes.count, "the trace cannot be written")
        }
    }

    private let installed = Mutex(FailPlan.ofEnvironment().map { [$0] } ?? [])
#endif

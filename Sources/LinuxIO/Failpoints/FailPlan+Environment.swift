#if FAILPOINTS
    import Glibc

    extension FailPlan {
        /// Returns the plan that environment variables set up, or `nil` without them:
        ///
        /// - `PUSHSPOOL_FAILPOINT=n:kill|stop|eio|enospc|einval[,…]`: the action at the n-th operation; `n+:enospc`: at
        ///   that operation and all later ones that need space.
        /// - `PUSHSPOOL_FAILPOINT_UNDER=path`: count only operations below that directory.
        /// - `PUSHSPOOL_ELIDE=site[,…]`: skip the syncs of these `SyncSite`s.
        /// - `PUSHSPOOL_TRACE=file`: append each change to that file, which must be outside the directory.
        ///
        /// An invalid value ends the program: a test that tests nothing must not pass.
        static func ofEnvironment() -> FailPlan? {
            let (failpoint, elide) = (variable("PUSHSPOOL_FAILPOINT"), variable("PUSHSPOOL_ELIDE"))
            let trace = variable("PUSHSPOOL_TRACE")
            guard failpoint != nil || elide != nil || trace != nil else { return nil }
            guard let points = FailPoint.list(failpoint ?? "") else {
                preconditionFailure("PUSHSPOOL_FAILPOINT=\(failpoint ?? "")")
            }
            let sites = (elide ?? "").split(separator: ",").map { SyncSite(rawValue: String($0)) }
            precondition(!sites.contains(nil), "PUSHSPOOL_ELIDE=\(elide ?? "")")
            let scope = variable("PUSHSPOOL_FAILPOINT_UNDER") ?? ""
            let recording = trace.map { Recording.file(opened($0)) } ?? .nowhere
            return FailPlan(under: scope, points, Set(sites.compactMap(\.self)), to: recording)
        }

        private static func variable(_ name: String) -> String? {
            guard let value = unsafe getenv(name) else { return nil }
            return unsafe String(cString: value)
        }

        private static func opened(_ path: String) -> Int32 {
            let number = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            precondition(number >= 0, "PUSHSPOOL_TRACE=\(path) cannot be opened")
            return number
        }
    }
#endif

import SpoolStore
import TestSupport

/// Two nodes of a cluster in one folder, and the app `weather` as each has opened it.
struct TwoNodes {
    let folder: TemporaryDirectory
    let spools: [Spool]
    let one: AppSpool
    let two: AppSpool

    init() throws {
        let place = try TemporaryDirectory()
        folder = place
        spools = try ["one", "two"].map {
            try Spool(path: place.path, node: $0, journalByteCount: 8 << 20, cluster: ClusterTerms())
        }
        (one, two) = (try spools[0].app("weather"), try spools[1].app("weather"))
    }
}

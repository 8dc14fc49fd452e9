import LinuxIO
import SpoolModel
import SpoolStore

/// What is in a spool, by names, owners and modes.
struct SpoolFacts: Sendable {
    /// The spool itself.
    var root: FolderFacts
    /// The names in it that can be apps and are folders or links.
    var folders: [String] = []
    /// Other names in it, but those with a point in front.
    var others: [String] = []
    /// Each app that is configured or has a folder.
    var apps: [AppFolderFacts] = []
    /// The node's own folder.
    var own: FolderFacts
    /// The daemon's state, and the folder in which that would be made.
    let state: FolderFacts
    let stateParent: FolderFacts
    /// The user that looked.
    let user: UInt32

    /// Where to look.
    struct Place: Sendable {
        /// The spool.
        let spool: String
        /// The state folder.
        let state: String
        /// The node.
        let node: String
        /// The apps that are configured, or asked for.
        let apps: Set<String>
    }

    /// Looks at everything, and says where it is. Blocks.
    static func look(at place: Place, _ whereabouts: Whereabouts) -> SpoolFacts {
        whereabouts.note(place.state)
        let (state, stateParent) = (
            FolderFacts.behind(place.state), FolderFacts.behind(ConfigurationFile.folder(of: place.state))
        )
        whereabouts.note(place.spool)
        var facts = SpoolFacts(
            root: .behind(place.spool), own: own(of: place), state: state, stateParent: stateParent, user: Host.userID)
        guard let root = try? Directory.open(path: place.spool) else { return facts }
        do throws(SystemError) {
            for name in try root.names() {
                whereabouts.note("\(place.spool)/\(String(decoding: name, as: UTF8.self))")
                try facts.note(name, in: root)
            }
        } catch {
            facts.root.refusal = "\(error)"
        }
        facts.folders.sort()
        facts.others.sort()
        facts.apps = Set(facts.folders).union(place.apps).sorted().map { app in
            whereabouts.note("\(place.spool)/\(app)")
            return AppFolderFacts.look(at: app, in: root)
        }
        return facts
    }

    /// The owner shows also to those who may not look into it.
    private static func own(of place: Place) -> FolderFacts {
        let folder = place.spool + "/.pushspool"
        let parent = try? Directory.open(path: folder)
        return parent.map { .named(place.node, in: $0) } ?? FolderFacts(path: "\(folder)/\(place.node)")
    }

    private mutating func note(_ name: [UInt8], in root: Directory) throws(SystemError) {
        guard name.first != UInt8(ascii: ".") else { return }
        let text = String(decoding: name, as: UTF8.self)
        // Not there any more is no matter.
        guard let kind = try root.status(of: name)?.kind else { return }
        if AppName.isValid(text), kind == .directory || kind == .symbolicLink {
            folders.append(text)
        } else {
            others.append(text)
        }
    }

    /// The user that the daemon has run as, as far as its folders tell; else the one that looked.
    var daemonUser: UInt32 { own.isFolder ? own.owner : user }

    /// Whether what is tried shows what the daemon may do, or all but that.
    var mayActForDaemon: Bool { user == daemonUser || user == 0 }
}

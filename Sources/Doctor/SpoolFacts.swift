import LinuxIO
import SpoolModel

/// The content of a spool: names, owners and modes.
struct SpoolFacts: Sendable {
    /// The spool's folder.
    var root: FolderFacts
    /// The folders and symbolic links in the spool whose names are valid for apps.
    var folders: [String] = []
    /// All other names in the spool, except hidden ones.
    var others: [String] = []
    /// The apps that are configured or have a folder.
    var apps: [AppFolderFacts] = []
    /// The node's own folder.
    var own: FolderFacts
    /// The daemon's state folder, and its parent, in which the daemon would create it.
    let state: FolderFacts
    let stateParent: FolderFacts
    /// The user that runs the doctor.
    let user: UInt32

    /// The paths and names to examine.
    struct Place: Sendable {
        /// The path of the spool.
        let spool: String
        /// The path of the state folder.
        let state: String
        /// The node's name.
        let node: String
        /// The apps that are configured or asked for.
        let apps: Set<String>
    }

    /// Examines the spool, and records its place in `currentFile`. Blocks.
    static func look(at place: Place, _ currentFile: CurrentFile) -> SpoolFacts {
        currentFile.note(place.state)
        let (state, stateParent) = (
            FolderFacts.behind(place.state), FolderFacts.behind(FilePlace(place.state).directory)
        )
        currentFile.note(place.spool)
        var facts = SpoolFacts(
            root: .behind(place.spool), own: own(of: place), state: state, stateParent: stateParent, user: Host.userID)
        guard let root = try? Directory.open(path: place.spool) else { return facts }
        do throws(SystemError) {
            for name in try root.names() {
                currentFile.note("\(place.spool)/\(String(decoding: name, as: UTF8.self))")
                try facts.note(name, in: root)
            }
        } catch {
            facts.root.refusal = "\(error)"
        }
        facts.folders.sort()
        facts.others.sort()
        facts.apps = Set(facts.folders).union(place.apps).sorted().map { app in
            currentFile.note("\(place.spool)/\(app)")
            return AppFolderFacts.look(at: app, in: root)
        }
        return facts
    }

    /// The owner is visible even to users who may not open the folder.
    private static func own(of place: Place) -> FolderFacts {
        let folder = place.spool + "/.pushspool"
        let parent = try? Directory.open(path: folder)
        return parent.map { .named(place.node, in: $0) } ?? FolderFacts(path: "\(folder)/\(place.node)")
    }

    private mutating func note(_ name: [UInt8], in root: Directory) throws(SystemError) {
        guard name.first != UInt8(ascii: ".") else { return }
        let text = String(decoding: name, as: UTF8.self)
        // Skip a name that has been removed since it was listed.
        guard let kind = try root.status(of: name)?.kind else { return }
        if AppName.isValid(text), kind == .directory || kind == .symbolicLink {
            folders.append(text)
        } else {
            others.append(text)
        }
    }

    /// The user that the daemon has run as, which is the owner of the node's folder; without that, the user of the
    /// doctor.
    var daemonUser: UInt32 { own.isFolder ? own.owner : user }

    /// Whether operations by this user show what is allowed to the daemon. Root counts, too, though it may do more.
    var mayActForDaemon: Bool { user == daemonUser || user == 0 }
}

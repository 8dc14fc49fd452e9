import APNSModel
import Configuration
import Document
import LinuxIO
import PushModel

/// An app's channel file, locked for one command that may change it, and the record of a creation without an answer.
struct ChannelBook {
    /// The app's channels in the file, by name.
    private(set) var channels: [String: BroadcastChannel]
    private let file: ChannelFile
    private let folder: Directory
    private let lock: FileLock

    /// How long another command may hold the lock.
    private static let patience = Duration.seconds(60)
    /// The longest record: 10,000 ids of 255 bytes.
    private static let recordLimit = 4 << 20

    /// Locks and reads the file. Waits while another command has it.
    ///
    /// - Throws: `ChannelFault`: the folder is not writable, the file has faults, or another command does not end;
    ///   `CancellationError`.
    init(_ file: ChannelFile) async throws {
        self.file = file
        do {
            folder = try Directory.open(path: file.folder)
            lock = try await Self.lock(file, in: folder)
        } catch let error as SystemError {
            throw ChannelFault(error)
        }
        var report = Report()
        channels = file.read(report: &report)
        guard let fault = report.inOrder.first(where: { $0.severity == .error }) else { return }
        throw ChannelFault(.configuration, fault.rendered(file: file.path), hint: nil)
    }

    private static func lock(_ file: ChannelFile, in folder: Directory) async throws -> FileLock {
        let deadline = ContinuousClock.now + patience
        while true {
            if let lock = try FileLock(try folder.openForWriting(name("lock", of: file), mode: 0o600)) { return lock }
            guard .now < deadline else {
                throw ChannelFault(
                    .later,
                    "another command has locked the channels of \(file.app) for \(patience.components.seconds) s",
                    hint: "wait until it ends, or stop it")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Records the channel of a name.
    ///
    /// - Throws: `ChannelFault`: the file is as it was.
    mutating func set(_ name: String, _ channel: BroadcastChannel) throws(ChannelFault) {
        var changed = channels
        changed[name] = channel
        try write(changed)
    }

    /// Forgets all names of a channel.
    ///
    /// - Throws: `ChannelFault`: the file is as it was.
    mutating func forget(_ id: ChannelID) throws(ChannelFault) {
        let kept = channels.filter { $0.value.id != id }
        if kept.count < channels.count { try write(kept) }
    }

    /// The creation whose answer is not known, if there is one.
    func pending() throws(ChannelFault) -> PendingChannel? {
        do throws(SystemError) {
            let bytes = try folder.contentsIfThere(of: Self.name("pending", of: file), limit: Self.recordLimit)
            return bytes.flatMap(PendingChannel.init)
        } catch {
            throw ChannelFault(error)
        }
    }

    /// Records a creation before its request. Survives a power cut.
    func begin(_ pending: PendingChannel) throws(ChannelFault) {
        try replace(Self.name("pending", of: file), by: pending.bytes, mode: 0o600)
    }

    /// Forgets the creation, because its outcome is known.
    func end() throws(ChannelFault) {
        do throws(SystemError) {
            _ = try folder.unlink(Self.name("pending", of: file))
        } catch {
            throw ChannelFault(error)
        }
    }

    private mutating func write(_ changed: [String: BroadcastChannel]) throws(ChannelFault) {
        try replace(Array(file.name.utf8), by: ChannelFile.content(changed), mode: 0o644)
        channels = changed
    }

    private func replace(_ name: [UInt8], by content: [UInt8], mode: UInt32) throws(ChannelFault) {
        do throws(SystemError) {
            let temporary = Self.name("new", of: file)
            try folder.replace(name, by: temporary, mode: mode) { (new) throws(SystemError) in
                try new.write(content)
                try new.syncData(.state)
            }
            try folder.sync(.state)
        } catch {
            throw ChannelFault(error)
        }
    }

    /// The name of a hidden file beside the channel file.
    private static func name(_ purpose: String, of file: ChannelFile) -> [UInt8] {
        Array(".\(file.app).channels.\(purpose)".utf8)
    }
}

/// A lock on a file, held until this object is released.
private final class FileLock {
    private let file: OpenFile

    /// Returns `nil` if another process has the lock.
    init?(_ file: consuming OpenFile) throws(SystemError) {
        guard try file.lock() else { return nil }
        self.file = file
    }
}

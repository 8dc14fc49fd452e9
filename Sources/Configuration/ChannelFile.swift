package import APNSModel
package import Document
import LinuxIO
import PushModel

/// The file in which `pushspool channel` keeps the names of an app's broadcast channels, beside the app's own file:
///
///     {
///     "goals": {"id": "dHN0LXNyY2gtY2hubA==", "policy": "latest"}
///     }
///
/// Its content is that of `channels` in the app's own file.
package struct ChannelFile: Sendable {
    private static let suffix = ".channels.json"

    /// The folder of the apps' files.
    package let folder: String
    /// The app's name.
    package let app: String

    /// Names the channel file of an app.
    package init(app: String, folder: String) {
        (self.app, self.folder) = (app, folder)
    }

    /// The file's name.
    package var name: String { app + Self.suffix }

    /// The file's path, for messages.
    package var path: String { folder + "/" + name }

    /// Whether a name in the apps' folder is that of a channel file.
    static func isName(_ name: [UInt8]) -> Bool {
        name.first != UInt8(ascii: ".") && name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Reads the file. Reports its faults, and leaves out faulty channels. Blocks.
    ///
    /// - Returns: The channels by name; none if there is no file.
    package func read(report: inout Report) -> [String: BroadcastChannel] {
        do throws(Diagnostic) {
            guard let document = try ConfigurationFile.parseIfPresent(path) else { return [:] }
            return AppConfiguration.readChannels(document, path: "", report: &report)
        } catch {
            report.add(error)
            return [:]
        }
    }

    /// The content for these channels.
    package static func content(_ channels: [String: BroadcastChannel]) -> [UInt8] {
        var bytes = Array("{\n".utf8)
        for (number, (name, channel)) in channels.sorted(by: { $0.key < $1.key }).enumerated() {
            if number > 0 { bytes += Array(",\n".utf8) }
            var writer = JSONWriter(appendingTo: bytes)
            writer.key(name)
            writer.beginObject()
            writer.key("id")
            writer.string(channel.id.text)
            if let policy = channel.policy {
                writer.key("policy")
                writer.string(PolicyWord(policy).rawValue)
            }
            writer.endObject()
            bytes = writer.bytes
        }
        return bytes + Array("\n}\n".utf8)
    }
}

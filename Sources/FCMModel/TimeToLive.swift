/// How a message says for how long FCM keeps it: in seconds from when it is written, which are counted anew for each try.
package enum TimeToLive {
    /// The byte that stands in a payload for these seconds. JSON text cannot contain it.
    package static let mark: UInt8 = 1
    /// Returns the string in a payload that has these seconds, in quotes.
    package static func value(unit: String) -> [UInt8] { [UInt8(ascii: "\""), mark] + Array("\(unit)\"".utf8) }

    /// The longest time for which FCM keeps a message: 28 days.
    package static let longest = Duration.seconds(2_419_200)
}

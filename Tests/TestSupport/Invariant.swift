/// What must hold after every fault, once the daemon has come to rest.
package enum Invariant: String, Sendable, CaseIterable {
    /// Each job that was dropped is in one final place.
    case onePlace = "I1"
    /// Each recipient was accepted, or its end is told.
    case nobodyLost = "I2"
    /// No more was sent twice than one death may cost.
    case fewDoubled = "I3"
    /// What is in an archive is told completely.
    case toldFirst = "I4"
    /// Nothing is left over.
    case noRemains = "I5"
    /// The filesystem is sound.
    case soundVolume = "I6"
    /// Another start changes nothing.
    case atRest = "I7"
}

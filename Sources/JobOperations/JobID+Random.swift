import OpenSSL
package import PushModel

extension JobID {
    /// Returns a new random id for a job.
    package static func random() -> JobID { JobID(bits: RandomBytes.makeNumber()) }
}

import APNSBinary
import PushModel

extension PipelineMachine {
    /// Writes as much of the batch as the window takes, and appends the frames.
    mutating func write(_ batch: inout Batch, to bytes: inout [UInt8]) {
        var sheet = FrameSheet(byteLimit: 16_384)
        while !batch.isEmpty, room > 0 { write(&batch, on: &sheet, to: &bytes) }
    }

    /// Writes one record of at most `byteLimit` bytes, or of one notification, and appends its frames.
    mutating func writeRecord(_ batch: inout Batch, to bytes: inout [UInt8], byteLimit: Int) {
        var sheet = FrameSheet(byteLimit: byteLimit)
        write(&batch, on: &sheet, to: &bytes)
    }

    /// Writes one record on a sheet that may have been used before, and appends its frames.
    mutating func write(_ batch: inout Batch, on sheet: inout FrameSheet, to bytes: inout [UInt8]) {
        write(&batch, on: &sheet)
        sheet.withFrames { frames in
            for place in frames.indices { bytes.append(frames[place]) }
        }
    }
}

import Document
import JSON
import JobFormat
import JournalModel
package import LinuxIO
import PushModel
import SpoolInspection
import SpoolModel
import SpoolStore

/// Reads the sources of a report: first all feedback, then the archives for jobs without a line of feedback.
package struct ReportReading {
    private let root: Directory
    private let apps: [String]
    private var parser = JSON.Parser()
    /// The report so far.
    package private(set) var report: SpoolReport

    /// Creates a reader for these apps of a spool.
    package init(_ report: SpoolReport, apps: [String], in root: Directory) {
        (self.report, self.apps, self.root) = (report, apps, root)
    }

    /// Reads everything.
    ///
    /// - Throws: `SystemError`: a folder cannot be read, for a reason other than permissions.
    package mutating func run() throws {
        for app in apps {
            try readFeedback(of: app)
            try readArchives(of: app)
        }
        report.settle()
    }

    private mutating func readFeedback(of app: String) throws {
        let unreadable = try FeedbackFiles.readFiles(of: app, in: root) { file, feedback in
            // All lines of a file are older than its publication. If a consumer removes the file in the meantime, its
            // jobs are found in the archives.
            if let publishedAt = file.publishedAt, publishedAt < report.span.lowerBound { return }
            let isRead = try feedback.read(file) { _, line in
                switch line {
                case .good(let node, _): report.add(node, of: file.app)
                case .bad: report.sources.badLineCount += 1
                }
            }
            if isRead { report.sources.fileCount += 1 }
        }
        report.sources.unreadable += unreadable
    }

    private mutating func readArchives(of app: String) throws(SystemError) {
        let (days, unreadable) = try ArchiveListing.days(of: app, in: root)
        report.sources.unreadable += unreadable
        let span = (report.span.lowerBound.day, (report.span.upperBound + .nanoseconds(-1)).day)
        for day in days where span.0 <= day.name && day.name <= span.1 {
            do {
                try read(day, in: try day.open())
            } catch {
                // Retention has removed the day.
                if error.isNotFound { continue }
                guard error.isRefusal else { throw error }
                report.sources.unreadable.append("\(app)/\(day.folder.rawValue)/\(day.name)")
            }
        }
    }

    private mutating func read(_ day: ArchiveListing.Day, in directory: Directory) throws(SystemError) {
        let state: Conclusion.State = day.folder == .done ? .done : .failed
        var listing = try directory.listing()
        while let entry = try listing.next() {
            guard let name = FileName(bytes: entry.name), name.isJob, !report.isKnown(path: day.path(of: name)),
                let status = try directory.status(of: name.bytes)
            else { continue }
            let place = (app: day.app, at: day.time(near: WallTime(nanoseconds: status.changedAt)))
            let result = try result(of: name, in: directory, day)
            report.add(result: result, of: name, state, place)
        }
    }

    private mutating func result(
        of name: FileName, in directory: Directory, _ day: ArchiveListing.Day
    ) throws(SystemError) -> Node? {
        guard let resultName = name.result else { return nil }
        let found = try directory.contentsBesideJob(resultName, limit: JobSearch.resultByteLimit) {
            report.sources.unreadable.append(day.path(of: resultName))
        }
        guard let bytes = found else { return nil }
        return (try? parser.parse(bytes))?.root
    }
}

extension ArchiveListing.Day {
    /// The time within this day that is closest to `time`. If a file was copied, its folder still has the right day,
    /// but its timestamp is wrong.
    fileprivate func time(near time: WallTime) -> WallTime {
        guard let begin = WallTime(rfc3339: name + "T00:00:00Z") else { return time }
        return min(max(time, begin), begin + .seconds(86_399))
    }
}

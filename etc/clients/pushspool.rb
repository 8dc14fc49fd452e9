# frozen_string_literal: true

# Drops jobs into a pushspool spool and reads their outcomes. Copy this file: it needs only Ruby 3.0 or newer on Linux.
#
#     require_relative "pushspool"
#     weather = Pushspool::App.new("/var/spool/pushspool", "weather")
#     name = weather.submit({ token: token, alert: "Hi" }, name: "order.json")
#     outcome = weather.wait(name)
#     weather.feedback(consume: true) { |line| forget(line["token"]) if line["verdict"] == "gone" }
# Ruby has no renameat2(2): a unique name has 64 random bits, and `unique: false` uses link(2), after which the file must
# settle. pushspool-spool(7) explains that and the folders, pushspool-job(5) jobs, pushspool-feedback(5) the lines.

require "json"
require "securerandom"

module Pushspool
  # A failure; `hint` is its remedy. Unless it is InDoubt, submit has dropped nothing, and you may repeat it.
  class Error < StandardError
    attr_reader :hint, :job
    def initialize(message, hint, job = nil)
      super("#{message}; #{hint}")
      @hint, @job = hint, job
    end
  end
  class InputFault < Error; end # a repetition does not help
  class NotInTime < Error; end # the job has not ended within the time-out, or its app sends nothing now
  class InDoubt < Error; end # the job may have been dropped: it is or was in new/ under the name `job`

  # The end of a job: "done", "failed" or "held", its path in the app's folder, and its result; without it, all was accepted.
  JobEnd = Struct.new(:name, :state, :path, :result) do
    def accepted? = state == "done" && result.nil?
  end

  # An app's folder in the spool.
  class App
    JOB_NAME = %r{\A(?!\.)(?!.*\.result\.json\z)[^\x00-\x1f\x7f/]+(\.(?:json|jsonl|yaml|yml))\z}n.freeze
    HINTS = {
      Errno::EACCES => (hint = "run as a member of the group that owns the folder; see pushspool-spool(7)"), Errno::EPERM => hint,
      Errno::ENOENT => "check the spool's path and the app's name; the daemon creates an app's folders when it starts",
      Errno::ENOSPC => "free some space, and submit the job again"
    }.freeze
    INODES = {} # of the last jobs with exact names, which other jobs may have had, by their paths
    JOB_HINT = "use at most 200 bytes, no leading dot, slash or control character, and end it in .json, .jsonl, .yaml or .yml"

    def initialize(spool, app)
      check(spool.empty? ? spool : "-#{spool.tr("/", "-")}", "pass the spool's path")
      @folder = "#{spool}/#{check(app, "use the name of a folder in the spool")}"
    end

    # Drops a job atomically and durably, and returns its name. `job` is a hash, the file's text, or an Enumerable of
    # pieces of it. The ending of `name` sets the format; "urgent-" or "bulk-" at its start selects a lane. 17 characters
    # before the ending make it unique; `unique: false` uses exactly `name`, and fails if new/ has it.
    def submit(job, name: "job.json", unique: true)
      ending = name.b[JOB_NAME, 1] if name.bytesize <= 200
      refuse("#{name.inspect} is not a valid job name", JOB_HINT) unless ending
      final = unique ? "#{name.delete_suffix(ending)}-#{SecureRandom.hex(8)}#{ending}" : name
      directory = guard { File.open("#{@folder}/new", File::NOFOLLOW) }
      # A hidden file in new/ if tmp/ cannot be used, or is on another filesystem.
      is_usable = File.writable?("#{@folder}/tmp") && File.stat("#{@folder}/tmp").dev == directory.stat.dev
      path = "#{@folder}/#{is_usable ? "tmp" : "new"}/.#{SecureRandom.hex(8)}#{ending}"
      file = guard { File.open(path, File::WRONLY | File::CREAT | File::EXCL | File::BINARY, 0o644) }
      # Whatever the umask is: the daemon, another user, must be able to read it. Other users cannot enter new/.
      guard { file.chmod(0o644) }
      (job.is_a?(String) ? [job] : job.is_a?(Hash) ? [json(job)] : job).each { |piece| guard { file.write(piece) } }
      refuse("the job is empty", "write it as pushspool-job(5) describes") if guard { file.size }.zero?
      guard do
        # On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
        File.utime(Time.now, Time.now.to_i - 1, path)
        file.fsync
        file.close # the daemon does not take a file that is still open for writing
        unique ? File.rename(path, "#{@folder}/new/#{final}") : File.link(path, "#{@folder}/new/#{final}")
      end
      (INODES["#{@folder}/#{final}"] = File.stat(path).ino) && INODES.size > 10_000 && INODES.shift unless unique
      # Sync new/, and check that it still has its path. On failure withdraw the job, unless the daemon claimed it.
      failure = attempt { directory.fsync }
      is_same = File.identical?(directory, "#{@folder}/new")
      return final if failure.nil? && is_same
      message = failure&.message || "new/ was moved, replaced or removed meanwhile"
      error = attempt { File.delete("#{@folder}/new/#{final}") }
      raise Error.new(message, "submit the job again") unless error
      return final if is_same && error.is_a?(Errno::ENOENT)
      doubt = "#{message}, and it is unknown whether '#{final}' was dropped: #{error.message}"
      raise InDoubt.new(doubt, "look for it in new/ before you submit it again", final)
    ensure
      attempt { File.delete(path) } if file # the daemon ignores this file
      [file, directory].each { |each| attempt { each&.close } }
    end

    # Drops a job with one notification per line: `recipients` is an Enumerable of tokens or hashes, whose errors pass through.
    # `job` has the keys about the job as a whole, such as a count to check, and `defaults` those that all recipients share.
    def submit_lines(recipients, job: {}, defaults: {}, name: "job.jsonl", unique: true)
      refuse("#{name.inspect} is not a valid name for lines", "end it in .jsonl") unless name.end_with?(".jsonl")
      lines = Enumerator.new do |pieces|
        head = { job: job, defaults: defaults }.reject { |_, keys| keys.empty? }
        pieces << json(head) unless head.empty?
        count = recipients.inject(0) { |number, recipient| (pieces << json(recipient)) && number + 1 }
        is_right = count.positive? && count == (job[:count] || job["count"] || count)
        refuse("there are #{count} recipients", "add at least one, and correct count") unless is_right
      end
      submit(lines, name: name, unique: unique)
    end

    # Waits until a job has ended or is held, at most `timeout` seconds, and returns its JobEnd. Raises NotInTime at once if
    # the app is stopped. Reads tmp/.jobs/, which has the app's last jobs.
    def wait(name, timeout: 300)
      check(name, "pass the name that submit returned")
      deadline, pause, inode, read = now + timeout, 0.02, INODES["#{@folder}/#{name}"], {}
      loop do
        waiting = guard(Errno::ENOENT) { File.lstat("#{@folder}/new/#{name}") }
        inode = waiting.ino if waiting
        finish = told(name, inode, read) unless waiting
        return finish if finish
        why = (stop = obstacle) || (waiting ? "it is still in new/" : "it is on its way")
        raise NotInTime.new("#{name} has not finished: #{why}", "is the daemon running? see its log") if stop || now >= deadline
        sleep((deadline - now).clamp(0, pause))
        pause = [pause * 2, 0.5].min
      end
    end

    # Iterates over the app's feedback lines, oldest file first. Files stay, unless you ask to consume: then each is deleted
    # after the block has taken its last line. If the block breaks off, its lines come again: a line comes at least once.
    # Skips links, pipes, and files of other users than the daemon's and root. A line that is not a JSON object raises.
    def feedback(consume: false)
      return to_enum(:feedback, consume: consume) unless block_given?
      folder = "#{@folder}/feedback"
      names = guard { Dir.children(folder) }.select { |name| name.b.match?(/\A[^.].*\.jsonl\z/mn) }.sort
      # Fail before the first line: otherwise the lines would come again and again.
      guard { raise Errno::EACCES, folder } if consume && !File.writable?(folder)
      is_ours = ->(status) { status.file? && owners.include?(status.uid) }
      names.each do |name|
        next unless guard(Errno::ENOENT) { is_ours.call(File.lstat("#{folder}/#{name}")) }
        flags = File::NOFOLLOW | File::NONBLOCK # otherwise opening a pipe would wait for its writer
        file = guard(Errno::ENOENT, Errno::ELOOP) { File.open("#{folder}/#{name}", flags, encoding: "UTF-8") } or next
        text = guard { file.read } if is_ours.call(file.stat)
        file.close
        text&.each_line&.with_index(1) do |line, number|
          value = (JSON.parse(line) rescue nil)
          refuse("feedback/#{name}:#{number}: not a JSON object", "move the file away, and check it") unless value.is_a?(Hash)
          yield value
        end
        guard(Errno::ENOENT) { File.delete(file.path) } if consume && text
      end
    end

    private
    # Returns the JobEnd of a job's last line. `read` has how much of each file was read, by inode.
    def told(name, inode, read)
      folder, fields = "#{@folder}/tmp/.jobs", nil
      guard { File.stat("#{@folder}/tmp/.") }
      status = guard(Errno::ENOENT) { File.lstat(folder) } # another user may have made it before the daemon
      files = owners.include?(status&.uid) ? guard { Dir.children(folder) }.grep(/\A(earlier-|ended-|held\z)/n).sort : []
      files.each do |file|
        lines = guard(Errno::ENOENT) { File.open("#{folder}/#{file}", "rb") } or next
        place = file == "held" ? 0 : read.fetch(lines.stat.ino, 0) # the list of held jobs is replaced as a whole
        lines.seek(place) if place <= lines.size # otherwise another file has got the inode of a removed one
        while (line = lines.gets)&.end_with?("\n") # the daemon may be writing the last line
          read[lines.stat.ino] = lines.pos
          parts = line.chomp.split("\t", 4)
          fields = parts if parts[3] && unescaped(parts[0]) == name.b && [nil, parts[1].to_i].include?(inode)
        end
        lines.close
      end
      path = unescaped(fields[2]).force_encoding("UTF-8") if fields
      JobEnd.new(name, path[/\A\w+/].sub("hold", "held"), path, fields[3] == "{}" ? nil : JSON.parse(fields[3])) if path
    end

    # Returns why the app sends nothing before its configuration changes, as daemons write every 30 s; nil if it may send.
    def obstacle
      folder = "#{File.dirname(@folder)}/.pushspool/public"
      found = Dir.glob("*/status.json", base: folder).flat_map do |path|
        apps = Time.now - File.mtime("#{folder}/#{path}") < 60 ? JSON.parse(File.read("#{folder}/#{path}"))["apps"] : []
        apps.select { |each| each["app"] == File.basename(@folder) }
      rescue SystemCallError, JSON::ParserError then []
      end
      is_stopped = found.any? && found.all? { |each| %w[stopped broken unconfigured].include?(each["state"]) }
      "#{found[0]["app"]} #{found[0]["reason"] || "is #{found[0]["state"]}"}" if is_stopped
    end

    # Turns a system's error into one with a remedy; these give nil.
    def guard(*ignored)
      yield
    rescue *ignored then nil
    rescue Errno::EEXIST => error
      raise InputFault.new(error.message, "use another name, or leave unique on")
    rescue SystemCallError => error
      raise Error.new(error.message, HINTS.fetch(error.class, "check the disk, and that its filesystem is mounted read-write"))
    end

    def unescaped(text) = text.gsub(/%(\h\h)/n) { $1.hex.chr }
    def owners = [guard { File.stat(File.exist?("#{@folder}/work") ? "#{@folder}/work" : @folder) }.uid, 0] # the daemon's
    def json(value) = "#{JSON.generate(value)}\n"
    def check(name, hint)
      name.b.match?(%r{\A(?!\.{1,2}\z)[^/\0]+\z}n) ? name : refuse("#{name.inspect} is not a valid name", hint)
    end
    def attempt = ((yield && nil) rescue $!) # returns the block's error, or nil
    def refuse(message, hint) = raise(InputFault.new(message, hint))
    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

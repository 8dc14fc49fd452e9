# frozen_string_literal: true

# Drops jobs into a pushspool spool and reads their outcomes. Copy this file: it needs only Ruby 3.0 or newer on Linux.
#
#     require_relative "pushspool"
#
#     weather = Pushspool::App.new("/var/spool/pushspool", "weather")
#     name = weather.submit({ token: token, alert: "Hi" }, name: "order.json")
#     outcome = weather.wait(name)
#     weather.feedback(consume: true) do |line|
#       forget(line["token"], line["gone_since"]) if line["verdict"] == "gone"
#     end
#
# Ruby has no renameat2(2). A unique name has 64 random bits, so rename(2) replaces nothing. `unique: false` uses link(2),
# which never replaces: the daemon then lets the file settle for 1 s, or for 10 s if it is YAML or lines that do not mark
# their end.
#
# pushspool-spool(7) explains the folders, pushspool-job(5) the contents of a job, pushspool-feedback(5) the lines.

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
  # The input is at fault: a repetition does not help.
  class InputFault < Error; end
  # The job has not ended within the time-out; the call did not change it.
  class NotInTime < Error; end
  # It is unknown whether the job was dropped, which is or was in new/ under the name `job`.
  class InDoubt < Error; end

  # The end of a job: "done", "failed" or "held", its path in the app's folder, and its result file's contents; without
  # them, everything was accepted.
  JobEnd = Struct.new(:name, :state, :path, :result) do
    def accepted? = state == "done" && result.nil?
  end

  # An app's folder in the spool.
  class App
    JOB_NAME = %r{\A(?!\.)(?!.*\.result\.json\z)[^\x00-\x1f\x7f/]+(\.(?:json|jsonl|yaml|yml))\z}n.freeze
    HINTS = {
      Errno::EACCES => "run as a member of the group that owns the folder; see pushspool-spool(7)",
      Errno::EPERM => "run as a member of the group that owns the folder; see pushspool-spool(7)",
      Errno::ENOENT => "check the spool's path and the app's name; the daemon creates an app's folders when it starts",
      Errno::ENOSPC => "free some space, and submit the job again"
    }.freeze
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
      pieces = job.is_a?(String) ? [job] : job.is_a?(Hash) ? [json(job)] : job
      pieces.each { |piece| guard { file.write(piece) } }
      refuse("the job is empty", "write it as pushspool-job(5) describes") if guard { file.size }.zero?
      guard do
        # On a shared filesystem a daemon on another host sees by this that the file was renamed after the last write.
        File.utime(Time.now, Time.now.to_i - 1, path)
        file.fsync
        file.close # the daemon does not take a file that is still open for writing
        unique ? File.rename(path, "#{@folder}/new/#{final}") : File.link(path, "#{@folder}/new/#{final}")
      end
      finish(directory, final)
    ensure
      attempt { File.delete(path) } if file # the daemon ignores this file
      [file, directory].each { |each| attempt { each&.close } }
    end

    # Drops a job with one notification per line. `recipients` is any Enumerable of tokens or hashes with a token, also one of
    # millions, as only one is in memory. Its errors pass through. `job` has the keys about the job as a whole, `defaults`
    # those that all recipients share. A count in `job` is checked before the drop.
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

    # Waits until a job has ended or is held, at most `timeout` seconds, and returns its JobEnd. Only members of their group
    # can read done/ and failed/.
    def wait(name, timeout: 300)
      check(name, "pass the name that submit returned")
      deadline = now + timeout
      pause = 0.02
      while (path = find(name)).nil? || path == "new/#{name}"
        message = "#{name} has not finished after #{timeout} s#{": it is still in new/" if path}"
        raise NotInTime.new(message, "is the daemon running? see its log") if now >= deadline
        sleep((deadline - now).clamp(0, pause))
        pause = [pause * 2, 0.5].min
      end
      # The result file appears before the job.
      text = guard(Errno::ENOENT) { File.read("#{@folder}/#{path}.result.json", encoding: "UTF-8") }
      JobEnd.new(name, path[/\A\w+/].sub("hold", "held"), path, text && JSON.parse(text))
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
      owners = [guard { File.stat(File.exist?("#{@folder}/work") ? "#{@folder}/work" : @folder) }.uid, 0]
      is_ours = ->(status) { status.file? && owners.include?(status.uid) }
      names.each do |name|
        next unless guard(Errno::ENOENT) { is_ours.call(File.lstat("#{folder}/#{name}")) }
        flags = File::NOFOLLOW | File::NONBLOCK # otherwise opening a pipe would wait for its writer
        file = guard(Errno::ENOENT, Errno::ELOOP) { File.open("#{folder}/#{name}", flags, encoding: "UTF-8") } or next
        begin
          next unless is_ours.call(file.stat)
          file.each_line.with_index(1) { |line, number| yield parsed(line, "feedback/#{name}:#{number}") }
          guard(Errno::ENOENT) { File.delete(file.path) } if consume
        ensure
          file.close
        end
      end
    end

    private

    # Syncs new/, and checks that it still has its path. On failure withdraws the job, unless the daemon claimed it.
    def finish(directory, name)
      failure = attempt { directory.fsync }
      is_same = File.identical?(directory, "#{@folder}/new")
      return name if failure.nil? && is_same
      message = failure&.message || "new/ was moved, replaced or removed meanwhile"
      error = attempt { File.delete("#{@folder}/new/#{name}") }
      raise Error.new(message, "submit the job again") unless error
      return name if is_same && error.is_a?(Errno::ENOENT)
      doubt = "#{message}, and it is unknown whether '#{name}' was dropped: #{error.message}"
      raise InDoubt.new(doubt, "look for it in new/ before you submit it again", name)
    end

    def find(name)
      days = %w[done failed].flat_map { |state| guard { Dir.children("#{@folder}/#{state}") }.map { |day| "#{state}/#{day}" } }
      paths = ["new", "hold", *days].map { |folder| "#{folder}/#{name}" } # the order in which jobs move
      paths.find { |path| guard(Errno::ENOENT, Errno::ENOTDIR) { File.lstat("#{@folder}/#{path}") } }
    end

    # Returns the block's error, or nil.
    def attempt
      yield && nil
    rescue SystemCallError => error
      error
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

    def json(value) = "#{JSON.generate(value)}\n"
    def parsed(line, place)
      JSON.parse(line).tap { |value| raise JSON::ParserError unless value.is_a?(Hash) }
    rescue JSON::ParserError
      refuse("#{place}: not a JSON object", "move the file away, and check it")
    end
    def check(name, hint)
      name.b.match?(%r{\A(?!\.{1,2}\z)[^/\0]+\z}n) ? name : refuse("#{name.inspect} is not a valid name", hint)
    end
    def refuse(message, hint) = raise(InputFault.new(message, hint))
    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

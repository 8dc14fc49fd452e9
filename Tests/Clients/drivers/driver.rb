# Carries out requests, one JSON object a line, with pushspool.rb, and answers each with a line.
require File.expand_path(ARGV.fetch(0))

def recipients(request)
  Enumerator.new do |tokens|
    request["recipients"].each { |recipient| tokens << recipient }
    raise Errno::ECONNRESET, "the database has gone" if request["breaks"]
  end
end

def answer(request)
  app = Pushspool::App.new(request["spool"], request["app"])
  name = request["name_hex"] ? [request["name_hex"]].pack("H*").force_encoding("UTF-8") : request["name"]
  names = { name: name, unique: request["unique"] }.compact
  job = request["job_hex"] ? [request["job_hex"]].pack("H*") : request["job"]
  case request["call"]
  when "submit" then { name_hex: app.submit(job, **names).unpack1("H*") }
  when "lines"
    { name_hex: app.submit_lines(recipients(request), **request["head"].transform_keys(&:to_sym), **names).unpack1("H*") }
  when "wait"
    finish = app.wait(name, timeout: request["timeout"])
    finish.to_h.except(:name).merge(is_accepted: finish.accepted?)
  when "feedback"
    lines = app.feedback(consume: request["consume"])
    { lines: request["take"] ? lines.first(request["take"]) : lines.to_a }
  end
end

KINDS = { Pushspool::InputFault => "input", Pushspool::NotInTime => "not_in_time", Pushspool::InDoubt => "in_doubt" }.freeze
$stdout.sync = true
$stdin.each_line do |line|
  result = begin
    answer(JSON.parse(line))
  rescue Pushspool::Error => error
    { error: KINDS.fetch(error.class, "failed"), message: error.message.b.inspect, hint: error.hint, job: error.job }
  rescue StandardError => error
    { error: "other", message: error.message.b.inspect, hint: "" }
  end
  puts JSON.generate(result)
end

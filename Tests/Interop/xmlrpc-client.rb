# Calls a door with Ruby's xmlrpc in the forms that pyapns' Ruby client has, and prints what comes back.
#
# usage: xmlrpc-client.rb PORT METHOD ARGUMENTS
#
# ARGUMENTS are JSON: an array, or an object with the names of the client's arguments. Prints `nil`, JSON with each time as text, or
# `fault CODE: TEXT`.
require "json"
require "xmlrpc/client"

# As pyapns' client does; otherwise Ruby refuses what `notify` and `provision` return.
XMLRPC::Config.module_eval do
  remove_const(:ENABLE_NIL_PARSER)
  const_set(:ENABLE_NIL_PARSER, true)
end

NAMES = {
  "provision" => %w[app_id cert env timeout], "notify" => %w[app_id tokens notifications], "feedback" => %w[app_id]
}.freeze

# A notification without members that are nil, as the client sends them.
def compact(notification)
  notification.merge("aps" => notification["aps"].compact).compact
end

def text(result)
  return "nil" if result.nil?

  result.map { |time, token| [time.to_time.strftime("%Y-%m-%dT%H:%M:%S"), token] }.to_json
end

port, method, arguments = ARGV
arguments = JSON.parse(arguments)
arguments = NAMES.fetch(method).map { |name| arguments[name] } if arguments.is_a?(Hash)
# The client makes an array of one notification.
arguments[2] = [arguments[2]].flatten.map { |notification| compact(notification) } if method == "notify"
client = XMLRPC::Client.new3(host: "localhost", port: port.to_i, timeout: 15, path: "/")
begin
  puts text(client.call_async(method, *arguments))
rescue XMLRPC::FaultException => e
  puts "fault #{e.faultCode}: #{e.faultString}"
end

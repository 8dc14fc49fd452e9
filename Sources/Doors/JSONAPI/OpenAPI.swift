import Document
import JobFormat

/// The description of the JSON door for programs and people (OpenAPI 3.1).
enum OpenAPI {
    /// The document, as JSON.
    static let document = Array((text + "\n").utf8)

    /// The schema of jobs, which `pushspool schema job` prints.
    private static let jobs = String(
        decoding: JSONSchema.job.members(named: "JobFile", under: "#/components/schemas/"), as: UTF8.self)

    private static let text = #"""
        {
          "openapi": "3.1.0",
          "info": {
            "title": "pushspool-door",
            "version": "1",
            "description": "Drop notification jobs into the spool, ask where they are, and read feedback. Jobs are those of pushspool-job(5)."
          },
          "security": [{"bearer": []}, {"basic": []}],
          "paths": {
            "/v1/apps/{app}/jobs": {
              "parameters": [{"$ref": "#/components/parameters/app"}],
              "post": {
                "operationId": "dropJob",
                "summary": "Drop a job",
                "description": "Answers once the job survives a power loss. The job is checked as `pushspool check` does.",
                "parameters": [
                  {"name": "lane", "in": "query", "schema": {"enum": ["urgent", "normal", "bulk"]}},
                  {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"},
                   "description": "Becomes the `id` of the job: of jobs with one id, one is sent. A repetition is answered with the first job."}
                ],
                "requestBody": {
                  "required": true,
                  "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/JobFile"}},
                    "application/yaml": {"schema": {"type": "string"}},
                    "application/jsonl": {"schema": {"type": "string"}}
                  }
                },
                "responses": {
                  "202": {
                    "description": "The job was dropped.",
                    "headers": {"Location": {"schema": {"type": "string"}}},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Receipt"}}}
                  },
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            },
            "/v1/apps/{app}/jobs/{job}": {
              "parameters": [
                {"$ref": "#/components/parameters/app"},
                {"name": "job", "in": "path", "required": true, "schema": {"type": "string"}}
              ],
              "get": {
                "operationId": "findJob",
                "summary": "Tell where a job is",
                "description": "In its first second of being sent, a job may be told as 404.",
                "responses": {
                  "200": {"description": "The state.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Job"}}}},
                  "default": {"$ref": "#/components/responses/problem"}
                }
              },
              "delete": {
                "operationId": "cancelJob",
                "summary": "Remove a job that waits",
                "responses": {
                  "204": {"description": "It was removed, and is not sent."},
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            },
            "/v1/apps/{app}/feedback": {
              "parameters": [{"$ref": "#/components/parameters/app"}],
              "get": {
                "operationId": "readFeedback",
                "summary": "Read feedback",
                "description": "Lines of pushspool-feedback(5). With `Accept: text/event-stream` it goes on as server-sent events.",
                "parameters": [
                  {"name": "after", "in": "query", "schema": {"type": "string"},
                   "description": "The cursor of an earlier answer; what it had is left out."},
                  {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}
                ],
                "responses": {
                  "200": {
                    "description": "The lines.",
                    "headers": {"Pushspool-Cursor": {"schema": {"type": "string"}, "description": "The cursor after these lines."}},
                    "content": {
                      "application/jsonl": {"schema": {"type": "string"}},
                      "text/event-stream": {"schema": {"type": "string"}}
                    }
                  },
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            },
            "/api/push": {
              "post": {
                "operationId": "pushAsGorush",
                "summary": "Drop the notifications of a client of gorush",
                "parameters": [
                  {"name": "app", "in": "query", "schema": {"type": "string"},
                    "description": "The FCM app for notifications with platform 2, if the producer has several."}
                ],
                "requestBody": {
                  "required": true,
                  "content": {"application/json": {"schema": {
                    "type": "object", "required": ["notifications"],
                    "properties": {"notifications": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"type": "object"}}}
                  }}}
                },
                "responses": {
                  "200": {"description": "What was taken, and what was not.", "content": {"application/json": {"schema": {"type": "object"}}}},
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            },
            "/metrics": {
              "get": {
                "operationId": "metrics", "summary": "Metrics of this door, for Prometheus",
                "responses": {
                  "200": {"description": "The metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}},
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            },
            "/livez": {
              "get": {
                "operationId": "live", "summary": "Tell that the process is alive", "security": [],
                "responses": {
                  "200": {"description": "It is.", "content": {"text/plain": {"schema": {"type": "string"}}}},
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            },
            "/readyz": {
              "get": {
                "operationId": "ready", "summary": "Tell whether a job could be dropped now", "security": [],
                "responses": {
                  "200": {"description": "It could. A line for each check follows.", "content": {"text/plain": {"schema": {"type": "string"}}}},
                  "503": {"description": "It could not. The lines say why.", "content": {"text/plain": {"schema": {"type": "string"}}}},
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            },
            "/healthz": {
              "get": {
                "operationId": "health", "summary": "The same as /readyz", "security": [],
                "responses": {
                  "200": {"description": "It could. A line for each check follows.", "content": {"text/plain": {"schema": {"type": "string"}}}},
                  "503": {"description": "It could not. The lines say why.", "content": {"text/plain": {"schema": {"type": "string"}}}},
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            },
            "/openapi.json": {
              "get": {
                "operationId": "description", "summary": "This description", "security": [],
                "responses": {
                  "200": {"description": "The description.", "content": {"application/json": {"schema": {"type": "object"}}}},
                  "default": {"$ref": "#/components/responses/problem"}
                }
              }
            }
          },
          "components": {
            "securitySchemes": {
              "bearer": {"type": "http", "scheme": "bearer"},
              "basic": {"type": "http", "scheme": "basic", "description": "The producer's name, and its token as the password."}
            },
            "parameters": {"app": {"name": "app", "in": "path", "required": true, "schema": {"type": "string"}}},
            "schemas": {
              \#(jobs),
              "Receipt": {
                "type": "object", "required": ["job", "recipients", "rejected"],
                "properties": {
                  "job": {"type": "string"}, "recipients": {"type": "integer"}, "rejected": {"type": "integer"},
                  "diagnostics": {"type": "array", "items": {"$ref": "#/components/schemas/Diagnostic"}}
                }
              },
              "Job": {
                "type": "object", "required": ["job", "state"],
                "properties": {
                  "job": {"type": "string"}, "state": {"enum": ["waiting", "sending", "held", "done", "failed"]},
                  "reason": {"type": "string"}, "notifications": {"type": "integer"}, "settled": {"type": "integer"},
                  "day": {"type": "string"}, "result": {"type": "object"}
                }
              },
              "Diagnostic": {
                "type": "object", "required": ["severity", "message"],
                "properties": {
                  "severity": {"enum": ["error", "warning"]}, "line": {"type": "integer"}, "column": {"type": "integer"},
                  "path": {"type": "string"}, "message": {"type": "string"}, "hint": {"type": "string"}
                }
              },
              "Problem": {
                "type": "object", "required": ["status", "title"],
                "properties": {
                  "status": {"type": "integer"}, "title": {"type": "string"}, "detail": {"type": "string"},
                  "diagnostics": {"type": "array", "items": {"$ref": "#/components/schemas/Diagnostic"}}
                }
              }
            },
            "responses": {
              "problem": {
                "description": "The request was not carried out (RFC 9457).",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              }
            }
          }
        }
        """#
}

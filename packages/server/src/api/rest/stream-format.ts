// How a stream is written over HTTP. Clients choose by `Accept` or `?format=`:
//
//   text/event-stream      server-sent events: kind, cursor as id, JSON as data
//   application/x-ndjson   one JSON object per line (the default)
//   text/plain, raw        the bytes of a log, and a line where some are no longer kept (the default for logs)

import type { Message } from "@bufbuild/protobuf";
import { type Problem, ProblemError, pb, problemToJson, type Route, skippedLine, toJsonText } from "@lattice/wire";

export interface StreamFormat {
  readonly contentType: string;
  readonly encode: (message: Message) => Uint8Array | string;
  /** Sent while the stream is idle; `null` when the format has no such message. */
  readonly keepalive: string | null;
  /** The message for a failure after the start; `null` closes the connection instead. */
  readonly failure: (what: Problem) => string | null;
}

export function chooseFormat(route: Route, accept: string | undefined, requested: string | undefined): StreamFormat {
  const isLog = route.rpc.output.typeName === pb.LogChunkSchema.typeName;
  if (requested !== undefined) return byName(route, requested, isLog);
  for (const wanted of (accept ?? "").split(",")) {
    const type = wanted.split(";")[0]?.trim().toLowerCase() ?? "";
    if (type === "text/event-stream") return events(route);
    if (type === "application/x-ndjson" || type === "application/json") return lines(route);
    if (type === "text/plain" || type === "application/octet-stream") if (isLog) return raw;
  }
  return isLog ? raw : lines(route);
}

function byName(route: Route, requested: string, isLog: boolean): StreamFormat {
  if (requested === "sse") return events(route);
  if (requested === "ndjson" || requested === "json") return lines(route);
  if (requested === "raw" && isLog) return raw;
  const detail = "is not a format of this stream";
  const hint = `The formats are ${isLog ? "raw, " : ""}ndjson and sse.`;
  throw new ProblemError("invalid_argument", {
    detail: `format: ${detail}`,
    hint,
    fields: [{ field: "format", detail, hint }],
  });
}

/** Encoded messages, shared by all watchers. */
const encoded = new WeakMap<Message, string>();

function jsonOf(route: Route, message: Message): string {
  const known = encoded.get(message);
  if (known !== undefined) return known;
  const text = toJsonText(route.rpc.output, message);
  encoded.set(message, text);
  return text;
}

const lines = (route: Route): StreamFormat => ({
  contentType: "application/x-ndjson; charset=utf-8",
  encode: (message) => `${jsonOf(route, message)}\n`,
  keepalive: null,
  failure: (what) => `${JSON.stringify({ problem: problemToJson(what) })}\n`,
});

const events = (route: Route): StreamFormat => ({
  contentType: "text/event-stream; charset=utf-8",
  encode(message) {
    const { kind, cursor } = message as Partial<pb.Event>;
    const id = cursor === undefined ? "" : `id: ${cursor}\n`;
    return `event: ${kind ?? "log"}\n${id}data: ${jsonOf(route, message)}\n\n`;
  },
  keepalive: ": keepalive\n\n",
  failure: (what) => `event: problem\ndata: ${JSON.stringify(problemToJson(what))}\n\n`,
});

const raw: StreamFormat = {
  contentType: "text/plain; charset=utf-8",
  encode(message) {
    const chunk = message as pb.LogChunk;
    return chunk.skipped === "" ? chunk.data : Buffer.concat([Buffer.from(skippedLine(chunk)), chunk.data]);
  },
  keepalive: null,
  // A clean end would mean that the log is complete.
  failure: () => null,
};

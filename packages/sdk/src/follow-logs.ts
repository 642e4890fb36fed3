// Follows the output of an allocation across broken connections and server restarts. Every chunk carries its offset in
// its log, and a new connection resumes from there, so that no output is repeated or lost.

import { skippedLine } from "@lattice/wire";
import type { LogsRequest } from "../gen/types.ts";
import type { Caller, CallOptions } from "./call.ts";
import { errorFromAnswer, LatticeError } from "./error.ts";
import { queryString } from "./query.ts";
import { backoffMs, DEFAULT_RETRY, sleep } from "./retry.ts";
import { hasLapsed } from "./token.ts";

export type LogsFilter = Omit<LogsRequest, "id" | "resume">;

interface Piece {
  readonly node?: string;
  readonly stream?: string;
  readonly data?: string;
  readonly offset?: string;
  readonly attempt?: number;
  readonly skipped?: string;
  readonly problem?: unknown;
}

/** A server that restarts or fails over is back well before this many tries. */
const MAX_RECONNECTS = 30;
/** Before the first response: the server may be restarting, or may not exist. */
const MAX_FIRST_TRIES = 5;

export async function* followLogs(
  caller: Caller,
  path: string,
  filter: LogsFilter,
  options: CallOptions,
): AsyncGenerator<Uint8Array> {
  const seen = new Map<string, string>();
  let opened = false;
  const onOpen = () => {
    opened = true;
  };
  for (let failures = 0; ; ) {
    try {
      for await (const piece of pieces(caller, path, { ...filter, ...resumeFrom(seen) }, { ...options, onOpen })) {
        failures = 0;
        seen.set(`${piece.attempt}:${piece.node}:${piece.stream}`, piece.offset ?? "0");
        yield bytesOf(piece);
      }
      return;
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      if (failures >= (opened ? MAX_RECONNECTS : MAX_FIRST_TRIES) || !isPassing(error)) throw error;
    }
    failures += 1;
    await sleep(backoffMs(DEFAULT_RETRY, failures, Math.random()), options.signal);
  }
}

function resumeFrom(seen: ReadonlyMap<string, string>): { readonly resume?: readonly string[] } {
  const newest = Math.max(0, ...[...seen.keys()].map((key) => Number(key.split(":", 1)[0])));
  const resume = [...seen].filter(([key]) => key.startsWith(`${newest}:`)).map(([key, offset]) => `${key}:${offset}`);
  return resume.length === 0 ? {} : { resume };
}

async function* pieces(
  caller: Caller,
  path: string,
  query: object,
  options: CallOptions & { readonly onOpen: () => void },
): AsyncGenerator<Piece> {
  const response = await caller.open(
    {
      method: "GET",
      path: `${path}${queryString({ ...query, format: "ndjson" })}`,
      headers: { accept: "application/x-ndjson" },
    },
    // A job may be silent for hours; the signal ends the wait.
    { ...options, idleTimeoutMs: 0 },
  );
  options.onOpen();
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const piece = JSON.parse(line) as Piece;
      if (piece.problem !== undefined) throw errorFromAnswer(0, JSON.stringify(piece.problem));
      yield piece;
    }
  }
}

const PASSING: ReadonlySet<string> = new Set([
  "connection_failed",
  "shutting_down",
  "not_leader",
  "log_unavailable",
  "deadline_exceeded",
]);

/** The connection or server was lost, or the token expired; the request itself is valid. */
const isPassing = (error: unknown): boolean =>
  hasLapsed(error) || (error instanceof LatticeError && PASSING.has(error.problem.code));

function bytesOf({ data = "", skipped = "", node = "" }: Piece): Uint8Array {
  const gap = skipped === "" ? "" : skippedLine({ skipped, node });
  if (typeof Buffer === "function")
    return gap === "" ? Buffer.from(data, "base64") : Buffer.concat([Buffer.from(gap), Buffer.from(data, "base64")]);
  return Uint8Array.from(gap + atob(data), (character) => character.charCodeAt(0));
}

// Writing a stream to an HTTP client at the client's pace: the source is not asked for more while
// the socket has not taken what it was given, so a log of any size passes through a few buffers.
// An error before the first item is answered by a status; a later one travels inside the stream.

import type { ServerResponse } from "node:http";
import { problemOf } from "@lattice/wire";
import type { FastifyReply } from "fastify";
import type { Item } from "../invoke.ts";
import { STREAM_KEEPALIVE_MS, STREAM_START_GRACE_MS } from "../limits/limits.ts";
import { drained } from "../streams/drained.ts";
import type { StreamFormat } from "./stream-format.ts";
import { written } from "./written.ts";

export interface StreamJob {
  readonly source: AsyncIterator<Item>;
  /** Resolves when the caller is let in, however long that takes. */
  readonly admitted: Promise<void>;
  readonly format: StreamFormat;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the client has gone. */
  readonly gone: AbortController;
  /** How long a client may leave what it was given untaken. */
  readonly patienceMs: number;
  readonly stalled: () => void;
}

/** Rejects, with nothing sent, when the source fails at once. */
export async function sendStream(reply: FastifyReply, job: StreamJob): Promise<void> {
  const { raw } = reply;
  raw.once("close", () => job.gone.abort());
  const first = job.source.next();
  await Promise.race([first, job.admitted.then(patience)]);
  reply.hijack();
  raw.writeHead(200, {
    ...job.headers,
    "content-type": job.format.contentType,
    "cache-control": "no-store",
    // Proxies must not gather events.
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
  await pump(raw, job, first);
}

/** Long enough for a refusal to show, short enough not to be noticed. */
function patience(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, STREAM_START_GRACE_MS));
}

async function pump(raw: ServerResponse, job: StreamJob, first: Promise<IteratorResult<Item>>): Promise<void> {
  const { format, source } = job;
  const timer = setInterval(() => {
    if (format.keepalive !== null && !raw.writableNeedDrain) raw.write(format.keepalive);
  }, STREAM_KEEPALIVE_MS);
  try {
    for (let next = await first; next.done !== true; next = await source.next()) {
      if (raw.destroyed) return;
      if (!raw.write(written(format, next.value)) && !raw.destroyed) await drained(raw, job.patienceMs);
    }
    raw.end();
  } catch (error) {
    if (problemOf(error).code === "stream_stalled") {
      job.stalled();
      letGo(raw, job.patienceMs);
    }
    const lastWords = format.failure(problemOf(error));
    if (lastWords === null) raw.destroy();
    else raw.end(lastWords);
  } finally {
    clearInterval(timer);
    await source.return?.();
  }
}

/** The reason lies behind what the client has not taken; it has as long again to come to it. */
function letGo(raw: ServerResponse, patienceMs: number): void {
  const timer = setTimeout(() => raw.destroy(), patienceMs);
  timer.unref();
  raw.once("close", () => clearTimeout(timer));
}

// Writes a stream to an HTTP client at the client's pace: the source is read again when the socket has taken the last
// item, so memory stays bounded for a log of any size. An error before the first item becomes a status; a later one is
// sent inside the stream.

import type { ServerResponse } from "node:http";
import { problemOf } from "@lattice/wire";
import type { FastifyReply } from "fastify";
import type { Item } from "../invoke/invoke.ts";
import { STREAM_KEEPALIVE_MS, STREAM_START_GRACE_MS } from "../limits/limits.ts";
import { drained } from "../streams/drained.ts";
import { encodeItem } from "./encode-item.ts";
import type { StreamFormat } from "./stream-format.ts";

interface StreamJob {
  readonly source: AsyncIterator<Item>;
  /** Resolves when the caller is authenticated and within its limits. */
  readonly admitted: Promise<void>;
  readonly format: StreamFormat;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the client disconnects. */
  readonly gone: AbortController;
  /** How long a client may stop reading. */
  readonly stallTimeoutMs: number;
  readonly stalled: () => void;
}

/** Rejects, with nothing sent, when the source fails at once. */
export async function sendStream(reply: FastifyReply, job: StreamJob): Promise<void> {
  const { raw } = reply;
  raw.once("close", () => job.gone.abort());
  const first = job.source.next();
  await Promise.race([first, job.admitted.then(startGrace)]);
  reply.hijack();
  raw.writeHead(200, {
    ...job.headers,
    "content-type": job.format.contentType,
    "cache-control": "no-store",
    // Proxies must not buffer events.
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
  await pump(raw, job, first);
}

/** Time for an early refusal to become a status. */
function startGrace(): Promise<void> {
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
      if (!raw.write(encodeItem(format, next.value)) && !raw.destroyed) await drained(raw, job.stallTimeoutMs);
    }
    raw.end();
  } catch (error) {
    if (problemOf(error).code === "stream_stalled") {
      job.stalled();
      destroyAfter(raw, job.stallTimeoutMs);
    }
    const failure = format.failure(problemOf(error));
    if (failure === null) raw.destroy();
    else raw.end(failure);
  } finally {
    clearInterval(timer);
    await source.return?.();
  }
}

/** The failure comes after the unread bytes, so the client gets the same time again to read it. */
function destroyAfter(raw: ServerResponse, timeoutMs: number): void {
  const timer = setTimeout(() => raw.destroy(), timeoutMs);
  timer.unref();
  raw.once("close", () => clearTimeout(timer));
}

// Starts and stops the capture of a trace as the configuration changes. For an object store the trace is cut into
// pieces of an hour or 64 MB, each of which replays by itself; they are written to the local disk first and sent when
// complete.

import { createReadStream, createWriteStream, mkdirSync, readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { parseS3, type S3Place } from "@lattice/wire";
import type { Logger } from "pino";
import { type Config, type S3Options, type TraceTarget, traceTarget } from "../../base/config/index.ts";
import { formatS3, putFile } from "../backup/stores/s3.ts";
import { type Capture, type CaptureOptions, startCapture } from "./capture.ts";

interface CaptureSwitchOptions extends Pick<CaptureOptions, "replica" | "leads" | "count"> {
  /** A live view: captures start and stop as it changes. */
  readonly config: Pick<Config, "scheduler" | "server">;
  readonly s3: S3Options | null;
  readonly serverId: string;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** Size limit of one piece for an object store. */
  readonly pieceBytes?: number;
}

const PIECE_BYTES = 64_000_000;
const PIECE_MS = 3_600_000;

/** The capture in progress. */
interface Running {
  readonly place: string;
  readonly since: number;
  readonly capture: Capture;
  /** `null` when the file stays on this disk. */
  readonly sent: { readonly path: string; readonly sender: Sender } | null;
}

/** Throws when the file of the initial configuration cannot be opened. */
export function startCaptureSwitch(options: CaptureSwitchOptions): Capture {
  const { config, s3, serverId, nowMs, logger, replica, leads, count, pieceBytes = PIECE_BYTES } = options;
  const senders = new Map<string, Sender>();
  const closing = new Set<Promise<void>>();
  let running: Running | null = null;
  let failed = "";
  let isFull = false;

  const senderTo = (place: string, outgoing: string): Sender | null => {
    const s3Place = parseS3(place);
    if (s3Place === null || s3 === null) return null;
    const known = senders.get(place) ?? createSender({ place: s3Place, s3, dir: outgoing, logger });
    senders.set(place, known);
    return known;
  };
  const start = ({ path: place, dir }: TraceTarget): Running => {
    const outgoing = join(dir, "outgoing");
    const sender = senderTo(place, outgoing);
    const stamp = new Date(nowMs()).toISOString().replace(/[-:.]/g, "");
    const path = sender === null ? place : join(outgoing, `trace-${serverId}-${stamp}.jsonl`);
    if (sender !== null || path.startsWith(dir)) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const onFull = (): void => {
      isFull = true;
    };
    const bounds = sender === null ? {} : { maxBytes: pieceBytes, onFull };
    const capture = startCapture({ path, replica, leads, logger, count, ...bounds });
    return { place, since: nowMs(), capture, sent: sender === null ? null : { path, sender } };
  };
  const stop = ({ capture, sent }: Running): void => {
    const closed = capture.close().then(() => sent?.sender.take(sent.path));
    closing.add(closed);
    void closed.finally(() => closing.delete(closed));
    running = null;
  };
  const turn = (): void => {
    const isOn = config.scheduler.traceCapture;
    const target = traceTarget(config);
    const { path } = target;
    const isStale = running?.sent != null && (isFull || nowMs() - running.since >= PIECE_MS);
    if (running !== null && (!isOn || running.place !== path || isStale)) stop(running);
    isFull = false;
    if (!isOn) failed = "";
    if (running !== null || !isOn || failed === path) return;
    running = start(target);
    failed = "";
  };
  turn();
  const unsubscribe = replica.feed.onEvents(() => {
    try {
      turn();
    } catch (error) {
      failed = traceTarget(config).path;
      logger.error({ err: error, path: failed }, "trace not written; capture is off");
    }
  });
  return {
    async close() {
      unsubscribe();
      if (running !== null) stop(running);
      await Promise.all(closing);
      await Promise.all([...senders.values()].map((sender) => sender.close()));
    },
  };
}

interface SenderOptions {
  readonly place: S3Place;
  readonly s3: S3Options;
  /** Directory of waiting pieces. */
  readonly dir: string;
  readonly logger: Logger;
}

interface Sender {
  /** The file is complete. */
  take(path: string): void;
  /** Waits a while for the upload in progress. */
  close(): Promise<void>;
}

/** A stopping server does not wait longer for an unavailable store. */
const LAST_MS = 5_000;

function createSender({ place, s3, dir, logger }: SenderOptions): Sender {
  const waiting = new Set(leftIn(dir));
  const ending = new AbortController();
  let work: Promise<void> = Promise.resolve();
  const sendAll = async (): Promise<void> => {
    for (const path of waiting) {
      try {
        await send(path, ending.signal);
        waiting.delete(path);
      } catch (error) {
        logger.warn({ err: error, path, waiting: waiting.size }, "trace not sent; keeping it for a retry");
        return;
      }
    }
  };
  const send = async (path: string, signal: AbortSignal): Promise<void> => {
    const packed = `${path}.gz`;
    await pipeline(createReadStream(path), createGzip(), createWriteStream(packed, { mode: 0o600 }), { signal });
    await putFile(place, s3, { path: packed, bytes: statSync(packed).size, name: basename(packed) }, signal);
    await rm(packed, { force: true });
    await rm(path, { force: true });
    logger.info({ trace: `${formatS3(place)}/${basename(packed)}` }, "trace sent");
  };
  return {
    take(path) {
      waiting.add(path);
      work = work.then(sendAll);
    },
    async close() {
      const timer = setTimeout(() => ending.abort(new Error("the server stops")), LAST_MS);
      await work;
      clearTimeout(timer);
    },
  };
}

/** Pieces from before a restart. */
function leftIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith(".jsonl"))
      .sort()
      .map((name) => join(dir, name));
  } catch {
    return [];
  }
}

// Streams one log of one attempt to a server: from the start or from the last N lines, to the end of the file, or
// until the attempt has ended. It reads no faster than the server takes, so that a log of any size costs a few chunks
// of memory.

import { type FSWatcher, watch } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client, ClientWritableStream } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import { sendLogsCall } from "../link/service.ts";
import { offsetsFor, type TimeRange } from "./output-times.ts";
import { tailOffset } from "./tail.ts";
import { passedOn } from "./young-garbage.ts";

export interface LogRequest {
  readonly streamId: string;
  /** 0: from the start. */
  readonly tail: number;
  readonly follow: boolean;
  /** Where to begin. */
  readonly offset: number;
  readonly time: TimeRange;
  /** The log is empty below this offset. */
  readonly start: number;
  /** The current start: the front of a log may be freed during a slow read. Default: `start`. */
  readonly startNow?: () => number;
  /** `null` when the attempt is unknown here. */
  readonly path: string | null;
  /** Returns the current path: archiving moves the attempt's folder. Default: `path`. */
  readonly moved?: () => Promise<string | null>;
  /** Whether more may still be written to it. */
  live(): boolean;
}

const CHUNK_BYTES = 64 * 1024;
/** Enough for a line or two, the usual size for followers, of which there may be many. */
const SMALL_BYTES = 2 * 1024;
/** Longest delay of a new line for a follower; inotify is usually immediate. */
const LOOK_EVERY_MS = 100;

/** Resolves when the log is sent, the server has hung up, or `signal` fires. Never rejects. */
export async function sendLogs(client: Client, request: LogRequest, signal: AbortSignal): Promise<void> {
  const { path, serialize, deserialize } = sendLogsCall;
  const over = new AbortController();
  const call = client.makeClientStreamRequest(path, serialize, deserialize, () => over.abort());
  call.on("error", () => over.abort());
  const cancel = (): void => call.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  const outlet = outletOf(call, over.signal);
  try {
    await copy(outlet, request, AbortSignal.any([signal, over.signal]));
  } catch (error) {
    await outlet({ streamId: request.streamId, error: (error as Error).message });
  }
  call.end();
  await fired(over.signal);
  signal.removeEventListener("abort", cancel);
}

/** Reports that this node cannot send more logs now. Never rejects. */
export function sendBusy(client: Client, streamId: string): Promise<void> {
  const { path, serialize, deserialize } = sendLogsCall;
  return new Promise((resolve) => {
    const call = client.makeClientStreamRequest(path, serialize, deserialize, () => resolve());
    call.on("error", () => resolve());
    // Shown to users of a server that does not know `busy`.
    const error = "this node sends as many logs as it may; try again a little later";
    call.write(create(pb.AgentLogChunkSchema, { streamId, busy: true, error }));
    call.end();
  });
}

type Outlet = (chunk: MessageInitShape<typeof pb.AgentLogChunkSchema>) => Promise<void>;

/** Resolves when the message has been taken and its buffer is free, or when the stream is over. */
function outletOf(call: ClientWritableStream<pb.AgentLogChunk>, over: AbortSignal): Outlet {
  return async (chunk) => {
    if (over.aborted) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        over.removeEventListener("abort", go);
        resolve();
      };
      over.addEventListener("abort", go, { once: true });
      call.write(create(pb.AgentLogChunkSchema, chunk), go);
    });
  };
}

async function copy(outlet: Outlet, request: LogRequest, stop: AbortSignal): Promise<void> {
  const { streamId, path } = request;
  if (path === null) throw new Error("this node has no log of that attempt");
  // Sent first, so that the server can connect both ends before the first line.
  await outlet({ streamId, offset: "0" });
  const file = (await openWhenThere(path, request, stop)) ?? (await openWhereItIsNow(path, request));
  if (file === null) return;
  try {
    const size = (await file.stat()).size;
    const range = await offsetsFor(path, request.time);
    const tail = request.tail > 0 ? await tailOffset(file, size, request.tail) : 0;
    let offset = Math.max(request.start, request.offset, range.start, tail);
    const room = growingRoom();
    const startNow = request.startNow ?? (() => request.start);
    const end = range.end ?? Number.POSITIVE_INFINITY;
    while (!stop.aborted) {
      // Read before the file: output written while the attempt lived is in the file by then.
      const mayGrow = request.follow && request.live() && offset < end;
      const grown = mayGrow ? growth(path, stop) : null;
      offset = await drain(outlet, { file, room, startNow }, { streamId, offset, end }, stop);
      if (grown === null) return;
      await grown.next(LOOK_EVERY_MS);
      grown.close();
    }
  } finally {
    await file.close();
  }
}

/** Sends from `offset` to the end of the file and returns the new offset. Skips parts that are freed meanwhile. */
async function drain(
  outlet: Outlet,
  { file, room, startNow }: { readonly file: FileHandle; readonly room: Room; readonly startNow: () => number },
  from: { readonly streamId: string; readonly offset: number; readonly end: number },
  stop: AbortSignal,
): Promise<number> {
  let { offset } = from;
  while (!stop.aborted && offset < from.end) {
    const buffer = room.current();
    const length = Math.min(buffer.length, from.end - offset);
    const { bytesRead } = await file.read(buffer, 0, length, offset);
    if (bytesRead === 0) break;
    // Read after the data: a freed part is recorded before it is freed, and reads as zeros.
    const start = startNow();
    if (start > offset) {
      offset = start;
      continue;
    }
    offset += bytesRead;
    if (bytesRead === buffer.length) room.grow();
    await outlet({ streamId: from.streamId, data: buffer.subarray(0, bytesRead), offset: String(offset) });
    passedOn(bytesRead);
  }
  return offset;
}

interface Room {
  current(): Buffer;
  /** Grows with every filled buffer. */
  grow(): void;
}

/** The reused read buffer: a message is sent before the next read. */
function growingRoom(): Room {
  let buffer = Buffer.allocUnsafeSlow(SMALL_BYTES);
  return {
    current: () => buffer,
    grow() {
      if (buffer.length < CHUNK_BYTES) buffer = Buffer.allocUnsafeSlow(2 * buffer.length);
    },
  };
}

/** Returns null when the attempt ended without this file, or the reader does not follow. */
async function openWhenThere(path: string, request: LogRequest, stop: AbortSignal): Promise<FileHandle | null> {
  while (!stop.aborted) {
    const mayCome = request.follow && request.live();
    const file = await open(path, "r").catch(() => null);
    if (file !== null || !mayCome) return file;
    await pause(LOOK_EVERY_MS, stop);
  }
  return null;
}

async function openWhereItIsNow(path: string, { moved }: LogRequest): Promise<FileHandle | null> {
  const now = (await moved?.()) ?? path;
  return now === path ? null : open(now, "r").catch(() => null);
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer);
      stop.removeEventListener("abort", go);
      resolve();
    };
    const timer = setTimeout(go, ms);
    stop.addEventListener("abort", go, { once: true });
  });
}

function fired(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

interface Growth {
  /** Resolves at the first change since creation, after the timeout, or when stopped. */
  next(timeoutMs: number): Promise<void>;
  close(): void;
}

/** Watches from creation on, so that writes during a read are not missed. */
function growth(path: string, stop: AbortSignal): Growth {
  let changed = false;
  let wake = (): void => {
    changed = true;
  };
  let watcher: FSWatcher | null = null;
  try {
    watcher = watch(path, { persistent: false }, () => wake());
    watcher.on("error", () => undefined);
  } catch {
    // Without inotify watches, polling is used.
  }
  return {
    next: (timeoutMs) =>
      new Promise((resolve) => {
        if (changed || stop.aborted) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          stop.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        stop.addEventListener("abort", done, { once: true });
        wake = done;
      }),
    close: () => watcher?.close(),
  };
}

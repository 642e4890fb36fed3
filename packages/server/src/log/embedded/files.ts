// The file operations that the engine needs, as an interface, so that tests can simulate a disk that is full, writes
// partially or fails to sync. Operations that may wait for the disk are asynchronous; a small write only reaches the
// page cache and is cheaper than a switch to another thread.

import { constants, writeSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { LogError } from "../contract/replicated-log.ts";

export interface OpenFile {
  /** Bytes read, fewer than requested at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Bytes written, perhaps fewer than given. */
  write(from: Uint8Array, position: number): Promise<number>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

export interface Files {
  /** "create" truncates an existing file. */
  open(path: string, how: "read" | "change" | "create"): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  /** Succeeds when the file does not exist. */
  remove(path: string): Promise<void>;
  list(dir: string): Promise<readonly string[]>;
  makeDir(path: string): Promise<void>;
  /** Makes created, renamed and removed names in the directory durable. */
  syncDir(path: string): Promise<void>;
}

/** Copied in microseconds. */
const SMALL_WRITE_BYTES = 64 * 1024;

const FLAGS = {
  read: constants.O_RDONLY,
  change: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
} as const;

export const diskFiles: Files = {
  async open(path, how) {
    const handle = await open(path, FLAGS[how], 0o600);
    return {
      read: async (into, position) => (await handle.read(into, 0, into.byteLength, position)).bytesRead,
      write: async (from, position) =>
        from.byteLength <= SMALL_WRITE_BYTES
          ? writeSync(handle.fd, from, 0, from.byteLength, position)
          : (await handle.write(from, 0, from.byteLength, position)).bytesWritten,
      datasync: () => handle.datasync(),
      truncate: (length) => handle.truncate(length),
      size: async () => (await handle.stat()).size,
      close: () => handle.close(),
    };
  },
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { force: true }),
  list: (dir) => readdir(dir),
  makeDir: async (path) => {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  async syncDir(path) {
    const handle = await open(path, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/** Writes all bytes, continuing after short writes; a write of zero bytes is an error. */
export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.byteLength) {
    const wrote = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done);
    if (wrote <= 0) throw Object.assign(new Error("the disk accepted no bytes"), { code: "EIO" });
    done += wrote;
  }
}

/** Reads until `into` is full or the file ends; returns the number of bytes. */
export async function readFully(file: OpenFile, into: Uint8Array, position: number): Promise<number> {
  let done = 0;
  while (done < into.byteLength) {
    const got = await file.read(done === 0 ? into : into.subarray(done), position + done);
    if (got <= 0) break;
    done += got;
  }
  return done;
}

/** Replaces a small file atomically: after a crash it has either the old or the new content. */
export async function replaceFile(files: Files, dir: string, name: string, content: Uint8Array): Promise<void> {
  const temporary = `${dir}/${name}.tmp`;
  const file = await files.open(temporary, "create");
  try {
    await writeFully(file, content, 0);
    await file.datasync();
  } finally {
    await file.close();
  }
  await files.rename(temporary, `${dir}/${name}`);
  await files.syncDir(dir);
}

const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Maps a failed file operation to an error of the log. */
export function asLogError(cause: unknown, doing: string): LogError {
  if (cause instanceof LogError) return cause;
  const code = errorCode(cause);
  const words = cause instanceof Error ? cause.message : String(cause);
  if (FULL.has(code)) return new LogError("storage_full", `no space left while ${doing}: ${words}`, { cause });
  return new LogError("unavailable", `the disk failed while ${doing}: ${words}`, { cause });
}

export function errorCode(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : "";
  return typeof code === "string" ? code : "";
}

// zstd for a part of a file: by Node itself where it can (22.15 and later), else by the `zstd` program.
// The part is streamed, so that only what comes out is held.

import { spawn, spawnSync } from "node:child_process";
import { createReadStream } from "node:fs";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";

export interface Range {
  readonly path: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

const LEVEL = "-3";

interface NewerZlib {
  readonly createZstdCompress?: () => Transform;
}

/** Null when this machine can compress; else what is missing. */
export function missingCompressor(): string | null {
  if ((zlib as NewerZlib).createZstdCompress !== undefined) return null;
  const found = spawnSync("zstd", ["--version"], { stdio: "ignore" });
  return found.status === 0 ? null : "the program zstd is needed to keep logs in a store (Debian: zstd)";
}

export async function compressed({ path, start, end }: Range): Promise<Buffer> {
  const source = createReadStream(path, { start, end: end - 1 });
  const own = (zlib as NewerZlib).createZstdCompress?.();
  const out: Buffer[] = [];
  const gather = async (from: AsyncIterable<Buffer>): Promise<void> => {
    for await (const piece of from) out.push(piece);
  };
  if (own !== undefined) {
    await pipeline(source, own, gather);
    return Buffer.concat(out);
  }
  const child = spawn("zstd", ["-q", LEVEL, "-c"], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? -1));
  });
  await Promise.all([pipeline(source, child.stdin), gather(child.stdout as AsyncIterable<Buffer>)]);
  const code = await ended;
  if (code !== 0) throw new Error(`zstd ended with ${code}`);
  return Buffer.concat(out);
}

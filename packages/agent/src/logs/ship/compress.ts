// Compresses a part of a file with zstd, by the `zstd` program with `dd` as its input: output never passes through the
// agent's memory. Without the program, Node compresses itself where it can (22.15 and later).

import { createReadStream } from "node:fs";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { failed, ok, type Result } from "@lattice/core";
import { HELPER_ENVIRONMENT, spawn, spawnSync } from "../../base/programs.ts";

interface FileRange {
  readonly path: string;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export type Compress = (range: FileRange) => Promise<Buffer>;

interface NewerZlib {
  readonly createZstdCompress?: () => Transform;
}

export function findCompressor(): Result<Compress> {
  if (spawnSync("zstd", ["--version"], { stdio: "ignore", env: HELPER_ENVIRONMENT }).status === 0) return ok(byProgram);
  const { createZstdCompress } = zlib as NewerZlib;
  if (createZstdCompress !== undefined) return ok(byNode(createZstdCompress));
  return failed("the program zstd is needed to keep logs in a store (Debian: zstd)");
}

/** A pipeline has the status of its last program, so errors of `dd` are detected on stderr. */
const SCRIPT = 'dd if="$1" bs=256K iflag=skip_bytes,count_bytes skip="$2" count="$3" status=none | zstd -q -3 -c';
/** Longest error text. */
const MAX_WORDS = 512;

export const byProgram: Compress = ({ path, start, end }) =>
  new Promise((resolve, reject) => {
    const args = ["-c", SCRIPT, "sh", path, String(start), String(end - start)];
    const child = spawn("/bin/sh", args, { stdio: ["ignore", "pipe", "pipe"], env: HELPER_ENVIRONMENT });
    const out: Buffer[] = [];
    let words = "";
    child.stdout?.on("data", (piece: Buffer) => out.push(piece));
    child.stderr?.on("data", (piece: Buffer) => {
      words = `${words}${piece}`.slice(0, MAX_WORDS);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0 && words === "") return resolve(Buffer.concat(out));
      reject(new Error(`output could not be compressed: ${words.trim() || `zstd ended with ${code}`}`));
    });
  });

export const byNode =
  (zstd: () => Transform): Compress =>
  async ({ path, start, end }) => {
    const out: Buffer[] = [];
    await pipeline(createReadStream(path, { start, end: end - 1 }), zstd(), async (from: AsyncIterable<Buffer>) => {
      for await (const piece of from) out.push(piece);
    });
    return Buffer.concat(out);
  };

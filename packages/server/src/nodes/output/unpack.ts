// Decompresses zstd: with Node where it can (22.15 and later), else with the `zstd` program.

import { spawn } from "node:child_process";
import { promisify } from "node:util";
import * as zlib from "node:zlib";

interface NewerZlib {
  readonly zstdDecompress?: (data: Uint8Array, done: (error: Error | null, result: Buffer) => void) => void;
}

export async function unpacked(data: Buffer): Promise<Buffer> {
  const own = (zlib as NewerZlib).zstdDecompress;
  if (own !== undefined) return promisify(own)(data);
  return new Promise((resolve, reject) => {
    const child = spawn("zstd", ["-q", "-d", "-c"], { stdio: ["pipe", "pipe", "ignore"] });
    const out: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => out.push(piece));
    // It ended before it read everything; its exit status explains why.
    child.stdin.on("error", () => undefined);
    child.once("error", () => reject(new Error("the program zstd is needed to read stored output (Debian: zstd)")));
    child.once("close", (code) =>
      code === 0 ? resolve(Buffer.concat(out)) : reject(new Error(`a stored chunk cannot be unpacked (zstd: ${code})`)),
    );
    child.stdin.end(data);
  });
}

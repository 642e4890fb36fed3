// A small disk of a test's own, in memory and in a mount namespace of its own, so that it can be filled.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcessesIn } from "./processes.ts";

export interface SmallDisk {
  /** Its folder, for programs that are started with `prefix`. */
  readonly path: string;
  /** The same folder, for the test. */
  readonly seen: string;
  /** Command prefix that enters the namespace. */
  readonly prefix: readonly string[];
  /** Leaves this share of the disk free, until `release`. */
  leaveFree(share: number): void;
  /** Leaves no byte free, until `release`. */
  fill(): void;
  release(): void;
  /** Ends all processes on the disk. */
  close(): Promise<void>;
}

export async function mountSmallDisk(bytes: number): Promise<SmallDisk> {
  const path = mkdtempSync(join(tmpdir(), "lattice-disk-"));
  const isRoot = process.getuid?.() === 0;
  const own = isRoot ? ["--mount"] : ["--mount", "--user", "--map-root-user"];
  const script = `mount -t tmpfs -o size=${bytes} tmpfs ${path} && echo mounted && exec sleep 1000000`;
  const holder = spawn("unshare", [...own, "sh", "-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  await mounted(holder);
  const seen = `/proc/${holder.pid}/root${path}`;
  const enter = ["nsenter", "--target", String(holder.pid), "--mount"];
  const filler = join(seen, "filler");
  return {
    path,
    seen,
    prefix: isRoot ? enter : [...enter, "--user", "--preserve-credentials"],
    leaveFree(share) {
      const { bavail, bsize } = statfsSync(seen);
      writeFileSync(filler, Buffer.alloc(bavail * bsize - share * bytes));
    },
    fill: () => fill(filler),
    release: () => rmSync(filler),
    async close() {
      await endProcessesIn(path);
      holder.kill("SIGKILL");
      rmSync(path, { recursive: true, force: true, maxRetries: 9 });
    },
  };
}

const mounted = (holder: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    holder.stdout?.once("data", () => resolve());
    holder.once("exit", (code) => reject(new Error(`cannot mount a small disk: unshare ended with ${code}`)));
  });

function fill(file: string): void {
  const block = Buffer.alloc(64 * 1024);
  for (let size = block.length; size >= 1; size = Math.floor(size / 4)) {
    try {
      for (;;) writeFileSync(file, block.subarray(0, size), { flag: "a" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

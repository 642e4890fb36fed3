// Runs the built rm-replay on recorded traces and parses its output. Without the traces a generated one is used, and
// the figures are marked.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanEnvironment, programPath, root } from "../tests/harness/program.ts";

const SHARED = join(root, "..", "shared", "traces");

export interface Replayed {
  readonly jobs: number;
  /** As measured by the program. */
  readonly readSeconds: number;
  readonly replaySeconds: number;
  /** From spawn to exit. */
  readonly wallSeconds: number;
}

export interface Judged extends Replayed {
  readonly summary: Summary;
}

export interface Summary {
  readonly jobs: number;
  readonly mean_bounded_slowdown: number;
  readonly wait_seconds: { readonly mean: number; readonly p99: number };
  readonly jain_slowdown: number;
  readonly jain_share: number;
  readonly utilisation: number;
}

export interface Folder {
  /** Returns the recorded trace, or a generated one. */
  trace(name: string): { readonly file: string; readonly isReal: boolean };
  /** Replays without writing results. Returns null after the timeout. */
  time(file: string, words: readonly string[], timeoutSeconds: number): Replayed | null;
  judge(file: string, words: readonly string[], timeoutSeconds: number): Judged | null;
}

/** Provides a temporary directory. */
export function withReplay<T>(work: (folder: Folder) => T): T {
  const path = mkdtempSync(join(tmpdir(), "lattice-replay-bench-"));
  try {
    return work({
      trace: (name) => {
        const file = join(SHARED, `${name}.swf.gz`);
        if (existsSync(file)) return { file, isReal: true };
        const made = join(path, "seeded.jsonl");
        run(["generate", "steady-state", "--jobs", "5000", "--seed", "1", "--output", made], SEEDED_TIMEOUT_S);
        return { file: made, isReal: false };
      },
      time: (file, words, timeoutSeconds) => replay(["--trace", file, ...words], timeoutSeconds),
      judge: (file, words, timeoutSeconds) => {
        const output = join(path, "results");
        const replayed = replay(["--trace", file, ...words, "--output", output], timeoutSeconds);
        if (replayed === null) return null;
        const summary = JSON.parse(readFileSync(join(output, "summary.json"), "utf8")) as Summary;
        return { ...replayed, summary };
      },
    });
  } finally {
    rmSync(path, { recursive: true, force: true, maxRetries: 9 });
  }
}

const SEEDED_TIMEOUT_S = 60;

function replay(words: readonly string[], timeoutSeconds: number): Replayed | null {
  const from = performance.now();
  const output = run(words, timeoutSeconds);
  if (output === null) return null;
  const found = /([\d,]+) jobs read in ([\d.]+) s, replayed in ([\d.]+) s/.exec(output);
  if (found === null) throw new Error(`rm-replay printed no duration: ${output}`);
  return {
    jobs: Number(found[1]?.replaceAll(",", "")),
    readSeconds: Number(found[2]),
    replaySeconds: Number(found[3]),
    wallSeconds: (performance.now() - from) / 1000,
  };
}

/** Returns standard error, or null after the timeout. */
function run(words: readonly string[], timeoutSeconds: number): string | null {
  const options = { env: cleanEnvironment({}), timeout: timeoutSeconds * 1000, encoding: "utf8" } as const;
  const done = spawnSync(programPath("rm-replay"), [...words], options);
  if (done.error !== undefined && "code" in done.error && done.error.code === "ETIMEDOUT") return null;
  if (done.status !== 0)
    throw new Error(`rm-replay ${words.join(" ")} exited with status ${done.status}: ${done.stderr}`);
  return done.stderr;
}

// The log between processes: killed at any moment, and opened by two at once.

import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openEmbeddedLog } from "../../src/log/index.ts";
import { linesOf, readThrough, textOf } from "./entries.ts";
import { temporaryDir } from "./temporary-dir.ts";

const SOURCE = fileURLToPath(new URL("./append-forever.ts", import.meta.url));
const ROUNDS = 20;

/** Bundled once: starting it from source would take longer than all the rest of a round. */
let program: string;
beforeAll(async () => {
  program = join(await temporaryDir(), "append-forever.mjs");
  buildSync({ entryPoints: [SOURCE], outfile: program, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => rm(dirname(program), { recursive: true, force: true, maxRetries: 9 }));

let dir: string;
beforeEach(async () => {
  dir = await temporaryDir();
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 9 }));

interface Appending {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  readonly opened: Promise<void>;
  acknowledged(): number;
}

function startAppending(): Appending {
  const child = spawn(process.execPath, [program, dir], { stdio: ["ignore", "pipe", "inherit"] });
  let last = 0;
  let opened: () => void = () => undefined;
  const whenOpened = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    if (line.startsWith("open ")) opened();
    last = Number(line.replace("open ", ""));
  });
  // "close" and not "exit": the output has been read to its end.
  const exited = new Promise<void>((resolve) => lines.once("close", () => resolve()));
  return { child, exited, opened: whenOpened, acknowledged: () => last };
}

test(`kill -9 in ${ROUNDS} rounds: every acknowledged entry is there`, async () => {
  let before = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const appending = startAppending();
    await appending.opened;
    const from = appending.acknowledged();
    expect(from).toBeGreaterThanOrEqual(before);
    await sleep((round * 37) % 120);
    // On a slow disk it takes longer until there is something to lose.
    while (appending.acknowledged() < from + 2) await sleep(5);
    appending.child.kill("SIGKILL");
    await appending.exited;
    const acknowledged = appending.acknowledged();

    const log = await openEmbeddedLog({ dir });
    const { firstIndex, lastIndex, term } = log.status();
    expect(lastIndex).toBeGreaterThanOrEqual(acknowledged);
    expect(term).toBe(round);
    const read = lastIndex < firstIndex ? [] : await readThrough(log, firstIndex, lastIndex);
    expect(read.map((entry) => entry.index)).toEqual(read.map((_, n) => firstIndex + n));
    for (const entry of read) expect(textOf(entry)).toMatch(new RegExp(`^entry ${entry.index} x*$`));
    const snapshot = await log.loadSnapshot();
    if (firstIndex > 1) expect(snapshot?.info.index).toBeGreaterThanOrEqual(firstIndex - 1);
    if (snapshot !== null) expect(await linesOf(snapshot.lines)).toEqual([`at ${snapshot.info.index}`]);
    await log.close();
    before = lastIndex;
  }
  expect(before).toBeGreaterThan(ROUNDS); // it appended in every round
});

test("a second process and a second handle are refused: the directory is in use", async () => {
  const appending = startAppending();
  await appending.opened;
  await expect(openEmbeddedLog({ dir })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining(`in use by another process (pid ${appending.child.pid})`),
  });
  appending.child.kill("SIGKILL");
  await appending.exited;

  const log = await openEmbeddedLog({ dir });
  await expect(openEmbeddedLog({ dir })).rejects.toMatchObject({ code: "unavailable" });
  await log.close();
  await (await openEmbeddedLog({ dir })).close();
});

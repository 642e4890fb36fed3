// A full disk under the server: submissions get 503, reads continue, nothing acknowledged is lost, no partial write
// remains, and writes resume when there is space. The server runs in its own mount namespace.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/eventually.ts";

const DISK_BYTES = 24 * 1024 * 1024;
const disk = mkdtempSync(join(tmpdir(), "lattice-disk-"));
const isRoot = process.getuid?.() === 0;
let holder: ChildProcess;
let cluster: Cluster;
/** The small disk, reached through the process that mounts it. */
let seen: string;

beforeAll(async () => {
  const own = isRoot ? ["--mount"] : ["--mount", "--user", "--map-root-user"];
  const script = `mount -t tmpfs -o size=${DISK_BYTES} tmpfs ${disk} && echo mounted && exec sleep 1000000`;
  holder = spawn("unshare", [...own, "sh", "-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    holder.stdout?.once("data", () => resolve());
    holder.once("exit", (code) => reject(new Error(`cannot mount a small disk: unshare ended with ${code}`)));
  });
  seen = `/proc/${holder.pid}/root${disk}`;
  mkdirSync(join(seen, "data"));
  const enter = ["nsenter", "--target", String(holder.pid), "--mount"];
  cluster = new Cluster({
    nodes: 0,
    serverDataDir: join(disk, "data"),
    serverPrefix: isRoot ? enter : [...enter, "--user", "--preserve-credentials"],
  });
  await cluster.start();
});

afterAll(async () => {
  await cluster.close();
  holder.kill("SIGKILL");
  rmSync(disk, { recursive: true, force: true, maxRetries: 9 });
});

test("a full disk refuses submissions, loses nothing, and heals", async () => {
  const kept: string[] = [];
  for (let n = 0; n < 20; n += 1) kept.push(await cluster.submit({ entrypoint: "true", name: `before-${n}` }));

  fillDisk();
  const refusal = await eventually({ what: "a submission is refused" }, async () => {
    const answer = await submitBig();
    if (answer.status !== 200) return answer;
    kept.push(String(answer.body.id));
    return null;
  });
  expect(refusal.status).toBe(503);
  expect(refusal.body).toMatchObject({ status: 503 });
  expect(refusal.body.code).toMatch(/storage_full|log_unavailable/);
  expect(refusal.body.hint).toBeTruthy();
  expect((await submitBig()).status).toBe(503);
  const cli = await cluster.cli(["submit", "--", "true"]);
  if (cli.code === 0) kept.push(/\d+/.exec(cli.stdout)?.[0] ?? "");
  else expect(cli.stderr).toMatch(/Hint:/);

  expect(new Set((await cluster.allocations()).map(({ id }) => id))).toEqual(new Set(kept));
  rmSync(join(seen, "filler"));
  const after = await eventually({ what: "submissions work again" }, async () => {
    const answer = await cluster.api("POST", "/allocations", { body: { entrypoint: "true", name: "after" } });
    return answer.status === 200 ? answer : null;
  });
  kept.push(String(after.body.id));
  expect(new Set((await cluster.allocations()).map(({ id }) => id))).toEqual(new Set(kept));

  await cluster.server.kill();
  await cluster.startServer();
  expect(new Set((await cluster.allocations()).map(({ id }) => id))).toEqual(new Set(kept));
});

/** Entries of half a megabyte exhaust the space that the log has reserved. */
function submitBig() {
  const script = `#!/bin/sh\n# ${"x".repeat(512 * 1024)}\ntrue\n`;
  return cluster.api("POST", "/allocations", { body: { script, name: "big" } });
}

function fillDisk(): void {
  const block = Buffer.alloc(64 * 1024);
  for (let size = block.length; size >= 1; size = Math.floor(size / 4)) {
    try {
      for (;;) writeFileSync(join(seen, "filler"), block.subarray(0, size), { flag: "a" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

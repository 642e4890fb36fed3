// A full disk under the server: a notice comes first, then submissions get 503 with what to free, while reads continue, also
// after a restart. Nothing acknowledged is lost, no partial write remains, and writes resume when there is space. The server
// runs in its own mount namespace.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/eventually.ts";
import { request } from "../harness/rest.ts";

const DISK_BYTES = 64 * 1024 * 1024;
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

test("a disk that fills up is a notice and a metric before anything is refused", async () => {
  expect(await gauge("lattice_disk_size_bytes")).toBe(DISK_BYTES);
  const kept = await cluster.submit({ entrypoint: "true" });
  leaveFree(0.08);
  const text = await eventually({ what: "a notice names the disk" }, lowDisk);
  expect(text).toContain(join(disk, "data"));
  expect(text).toMatch(/MB of .*free/);
  expect(await cluster.submit({ entrypoint: "true" })).not.toBe(kept);

  rmSync(join(seen, "ballast"));
  await eventually({ what: "the notice is cleared" }, async () => ((await lowDisk()) === null ? true : null));
});

test("work is refused before the disk is full, and everything else is served", async () => {
  const running = await cluster.submit({ entrypoint: "true" });
  leaveFree(0.03);
  const refusal = await eventually({ what: "a submission is refused" }, async () => {
    const answer = await cluster.api("POST", "/allocations", { body: { entrypoint: "true" } });
    return answer.status === 200 ? null : answer;
  });
  expect(refusal).toMatchObject({ status: 503, body: { code: "storage_full", retryable: true } });
  expect(refusal.body.detail).toContain(join(disk, "data"));
  expect(await gauge("lattice_disk_free_bytes")).toBeGreaterThan(0);
  const status = await cluster.api("GET", "/raft/status");
  expect(status.body).toMatchObject({ unwritable_reason: expect.stringContaining("nearly full") });
  expect((await cluster.api("DELETE", `/allocations/${running}`)).status).toBe(200);

  rmSync(join(seen, "ballast"));
  await eventually({ what: "submissions work again" }, async () =>
    (await cluster.api("POST", "/allocations", { body: { entrypoint: "true" } })).status === 200 ? true : null,
  );
});

test("a full disk refuses submissions, loses nothing, and heals", async () => {
  const kept: string[] = [];
  kept.push(...(await cluster.allocations()).map(({ id }) => id));
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
  expect(refusal.body.code).toBe("storage_full");
  expect(refusal.body.hint).toBeTruthy();
  expect((await submitBig()).status).toBe(503);
  const cli = await cluster.cli(["submit", "--", "true"]);
  if (cli.code === 0) kept.push(/\d+/.exec(cli.stdout)?.[0] ?? "");
  else expect(cli.stderr).toMatch(/Hint:/);

  expect(new Set((await cluster.allocations()).map(({ id }) => id))).toEqual(new Set(kept));

  await cluster.server.kill();
  await cluster.startServer();
  expect(new Set((await cluster.allocations()).map(({ id }) => id))).toEqual(new Set(kept));
  const still = await cluster.api("POST", "/allocations", { body: { entrypoint: "true" } });
  expect(still).toMatchObject({ status: 503, body: { code: "storage_full" } });
  expect(still.body.detail).toContain(join(disk, "data"));
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

function leaveFree(share: number): void {
  const { bavail, bsize } = statfsSync(seen);
  writeFileSync(join(seen, "ballast"), Buffer.alloc(bavail * bsize - share * DISK_BYTES));
}

const gauge = async (name: string): Promise<number> => {
  const page = await request(cluster.apiUrl, "GET", "/metrics");
  return Number(new RegExp(`^${name}{folder="log"} (\\S+)$`, "m").exec(page.text)?.[1]);
};

const lowDisk = async (): Promise<string | null> => {
  const { body } = await cluster.api<{ notices?: { kind: string; text: string }[] }>("GET", "/notices");
  return (body.notices ?? []).find(({ kind, text }) => kind === "disk_low" && text.includes(disk))?.text ?? null;
};

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

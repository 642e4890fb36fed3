// A full disk under the server: a notice comes first, then submissions get 503 with what to free, while reads continue, also
// after a restart. Nothing acknowledged is lost, no partial write remains, and writes resume when there is space. The server
// runs in its own mount namespace.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/eventually.ts";
import { request } from "../harness/rest.ts";
import { mountSmallDisk, type SmallDisk } from "../harness/small-disk.ts";

const DISK_BYTES = 64 * 1024 * 1024;
let disk: SmallDisk;
let cluster: Cluster;

beforeAll(async () => {
  disk = await mountSmallDisk(DISK_BYTES);
  mkdirSync(join(disk.seen, "data"));
  cluster = new Cluster({ nodes: 0, serverDataDir: join(disk.path, "data"), serverPrefix: disk.prefix });
  await cluster.start();
});

afterAll(async () => {
  await cluster.close();
  await disk.close();
});

test("a disk that fills up is a notice and a metric before anything is refused", async () => {
  expect(await gauge("lattice_disk_size_bytes")).toBe(DISK_BYTES);
  const kept = await cluster.submit({ entrypoint: "true" });
  disk.leaveFree(0.08);
  const text = await eventually({ what: "a notice names the disk" }, lowDisk);
  expect(text).toContain(join(disk.path, "data"));
  expect(text).toMatch(/MB of .*free/);
  expect(await cluster.submit({ entrypoint: "true" })).not.toBe(kept);

  disk.release();
  await eventually({ what: "the notice is cleared" }, async () => ((await lowDisk()) === null ? true : null));
});

test("work is refused before the disk is full, and everything else is served", async () => {
  const running = await cluster.submit({ entrypoint: "true" });
  disk.leaveFree(0.03);
  const refusal = await eventually({ what: "a submission is refused" }, async () => {
    const answer = await cluster.api("POST", "/allocations", { body: { entrypoint: "true" } });
    return answer.status === 200 ? null : answer;
  });
  expect(refusal).toMatchObject({ status: 503, body: { code: "storage_full", retryable: true } });
  expect(refusal.body.detail).toContain(join(disk.path, "data"));
  expect(await gauge("lattice_disk_free_bytes")).toBeGreaterThan(0);
  const status = await cluster.api("GET", "/raft/status");
  expect(status.body).toMatchObject({ unwritable_reason: expect.stringContaining("nearly full") });
  expect((await cluster.api("DELETE", `/allocations/${running}`)).status).toBe(200);

  disk.release();
  await eventually({ what: "submissions work again" }, async () =>
    (await cluster.api("POST", "/allocations", { body: { entrypoint: "true" } })).status === 200 ? true : null,
  );
});

test("a full disk refuses submissions, loses nothing, and heals", async () => {
  const kept: string[] = [];
  kept.push(...(await cluster.allocations()).map(({ id }) => id));
  for (let n = 0; n < 20; n += 1) kept.push(await cluster.submit({ entrypoint: "true", name: `before-${n}` }));

  disk.fill();
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
  expect(still.body.detail).toContain(join(disk.path, "data"));
  disk.release();
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

const gauge = async (name: string): Promise<number> => {
  const page = await request(cluster.apiUrl, "GET", "/metrics");
  return Number(new RegExp(`^${name}{folder="log"} (\\S+)$`, "m").exec(page.text)?.[1]);
};

const lowDisk = async (): Promise<string | null> => {
  const { body } = await cluster.api<{ notices?: { kind: string; text: string }[] }>("GET", "/notices");
  return (body.notices ?? []).find(({ kind, text }) => kind === "disk_low" && text.includes(disk.path))?.text ?? null;
};

/** Entries of half a megabyte exhaust the space that the log has reserved. */
function submitBig() {
  const script = `#!/bin/sh\n# ${"x".repeat(512 * 1024)}\ntrue\n`;
  return cluster.api("POST", "/allocations", { body: { script, name: "big" } });
}

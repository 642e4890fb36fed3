// A job that prints 200 MB: every byte arrives in order, and neither server nor agent keeps it in memory.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { spawnCli } from "../harness/cli.ts";
import { residentBytes } from "../harness/processes.ts";
import { useCluster } from "../harness/use-cluster.ts";

const BYTES = 200 * 1024 * 1024;
const LINE = "0123456789 the quick brown fox jumps over the lazy dog abcdefghijklmnopqrstuvwxyz\n";
/** Permitted growth for relaying 200 MB; keeping it would cost more than BYTES. */
const MAX_GROWTH_BYTES = 160 * 1024 * 1024;

const cluster = useCluster({ nodes: 1, agentArgs: ["--log-ring", "256"] });

test("200 MB of output arrive through the CLI in bounded memory", async () => {
  const pids = [cluster.server.pid, cluster.agent("node-1").pid];
  const before = pids.map(residentBytes);
  const id = await cluster.submit({ entrypoint: `yes '${LINE.trimEnd()}' | head -c ${BYTES}` });
  expect((await cluster.ends(id)).state).toBe("completed");

  const most = [...before];
  const sample = setInterval(() => {
    for (const [n, pid] of pids.entries()) most[n] = Math.max(most[n] ?? 0, residentBytes(pid));
  }, 50);
  const arrived = await readLogs(id);
  clearInterval(sample);

  expect(arrived.code).toBe(0);
  expect(arrived.bytes).toBe(BYTES);
  expect(arrived.hash).toBe(hashOf(BYTES));
  for (const n of pids.keys()) expect((most[n] ?? 0) - (before[n] ?? 0)).toBeLessThan(MAX_GROWTH_BYTES);
});

test("logs --tail does not read the whole output", async () => {
  const [{ id = "" } = {}] = await cluster.allocations();
  const { stdout, code } = await cluster.cli(["logs", id, "--tail=3"]);
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toHaveLength(3);
  expect(stdout).toContain("the quick brown fox");
});

async function readLogs(id: string) {
  const child = spawnCli(["logs", id], { env: cluster.cliEnvironment() });
  child.stdin.end();
  const hash = createHash("sha256");
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    hash.update(chunk);
  });
  child.stderr.resume();
  const code = await new Promise<number>((resolve) => child.once("close", (status) => resolve(status ?? -1)));
  return { code, bytes, hash: hash.digest("hex") };
}

function hashOf(bytes: number): string {
  const hash = createHash("sha256");
  const block = Buffer.from(LINE.repeat(10_000));
  let left = bytes;
  for (; left >= block.length; left -= block.length) hash.update(block);
  return hash.update(block.subarray(0, left)).digest("hex");
}

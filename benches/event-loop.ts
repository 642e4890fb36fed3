// How long the server's event loop is blocked, and the latency of its API, with a deep queue and cycles that run all the
// time: submissions from 16 connections, then reads of one allocation and of a list. The same load on a bare HTTP server,
// and a process that sleeps, show what the machine adds.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "../tests/harness/cluster.ts";
import { atLeast, type Bench, below, type Figure, type Progress, quantile, withoutTarget } from "./figure.ts";
import { startHollow } from "./hollow-nodes.ts";
import { runClient } from "./load-client.ts";
import { delaysBetween, monitoredBy, startBareServer, startSleeper } from "./loop-files.ts";
import { timesOf } from "./rest-times.ts";
import { withCluster } from "./with-cluster.ts";

const NODES = 200;
const CONNECTIONS = 16;
/** Allocations before the submissions, and before the reads. */
const PENDING = 50_000;
const PENDING_FOR_READS = 100_000;
const SECONDS = 10;
const WARM_UP_SECONDS = 2;
const READS = 400;
const LONGEST_MS = 20;
const LONGEST_READ_MS = 50;
const READ_P99_MS = 20;
const MIN_PER_SECOND = 2_500;
const TIMES_BARE = 2;
/** Nodes become free all the time, so that cycles run all the time. */
const BODY = { entrypoint: "./step", walltime: "1h", env: { LATTICE_HOLLOW_RUNTIME_MS: "6000" } };

interface Parts {
  readonly cluster: Cluster;
  readonly bare: { readonly address: string };
  readonly fileOf: (program: "server" | "bare" | "sleeper") => string;
  readonly log: Progress;
}

export const eventLoop: Bench = async (log) => {
  const dir = mkdtempSync(join(tmpdir(), "lattice-loop-"));
  const fileOf = (program: string): string => join(dir, program);
  try {
    return await withCluster({ nodes: 0, serverEnv: monitoredBy(fileOf("server")) }, async (cluster) => {
      await startHollow(cluster, NODES);
      const bare = await startBareServer(fileOf("bare"));
      const stopSleeper = startSleeper(fileOf("sleeper"));
      try {
        const parts = { cluster, bare, fileOf, log };
        return [...(await submissions(parts)), ...(await reads(parts))];
      } finally {
        bare.close();
        stopSleeper();
      }
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

async function submissions({ cluster, bare, fileOf, log }: Parts): Promise<Figure[]> {
  await fillTo(cluster, PENDING, log);
  const load = { connections: CONNECTIONS, seconds: SECONDS, warmUpSeconds: WARM_UP_SECONDS, body: BODY };
  const began = Date.now();
  const result = await runClient("rest-load", { ...load, address: cluster.restAddress });
  const between = Date.now();
  const compared = await runClient("rest-load", { ...load, address: bare.address });
  const ended = Date.now();
  if (result.failures > 0) throw new Error(`${result.failures} submissions failed`);
  return [
    below("submit_longest_block", delaysBetween(fileOf("server"), began, between).longest, "ms", LONGEST_MS),
    withoutTarget("submit_blocks_over_20ms", overLimit(fileOf("server"), began, between), "half seconds"),
    withoutTarget("submit_longest_block_sleeper", delaysBetween(fileOf("sleeper"), began, between).longest, "ms"),
    withoutTarget("bare_longest_block", delaysBetween(fileOf("bare"), between, ended).longest, "ms"),
    atLeast("submit_throughput", result.answers / result.seconds, "submissions/s", MIN_PER_SECOND),
    withoutTarget("submit_p50", result.p50Ms, "ms"),
    withoutTarget("submit_p99", result.p99Ms, "ms"),
    withoutTarget("bare_p99", compared.p99Ms, "ms"),
    withoutTarget("bare_throughput", compared.answers / compared.seconds, "calls/s"),
    below("submit_p99_over_bare", result.p99Ms / compared.p99Ms, "times", TIMES_BARE),
  ];
}

async function reads({ cluster, fileOf, log }: Parts): Promise<Figure[]> {
  await fillTo(cluster, PENDING_FOR_READS, log);
  const { body } = await cluster.api<{ allocations?: readonly { readonly id: string }[] }>(
    "GET",
    "/allocations?page_size=100&state=pending",
  );
  const ids = (body.allocations ?? []).map(({ id }) => id);
  const figures: Figure[] = [];
  const began = Date.now();
  for (const [name, pathOf] of [
    ["get", (n: number) => `/api/v1/allocations/${ids[n % ids.length]}`],
    ["list", () => "/api/v1/allocations?page_size=100"],
  ] as const) {
    const times = await timesOf(
      cluster.restAddress,
      Array.from({ length: READS }, (_, n) => pathOf(n)),
    );
    figures.push(withoutTarget(`${name}_p50`, quantile(times, 0.5), "ms"));
    figures.push(below(`${name}_p99`, quantile(times, 0.99), "ms", READ_P99_MS));
    figures.push(withoutTarget(`${name}_max`, quantile(times, 1), "ms"));
  }
  const ended = Date.now();
  return [
    ...figures,
    below("read_longest_block", delaysBetween(fileOf("server"), began, ended).longest, "ms", LONGEST_READ_MS),
    withoutTarget("read_longest_block_sleeper", delaysBetween(fileOf("sleeper"), began, ended).longest, "ms"),
  ];
}

const overLimit = (file: string, from: number, to: number): number =>
  delaysBetween(file, from, to).longests.filter((longest) => longest > LONGEST_MS).length;

async function fillTo(cluster: Cluster, pending: number, log: Progress): Promise<void> {
  const missing = pending - (await pendingOf(cluster));
  if (missing > 0)
    await runClient("rest-load", {
      address: cluster.restAddress,
      connections: CONNECTIONS,
      calls: missing,
      body: BODY,
    });
  log(`${await pendingOf(cluster)} allocations pending`);
}

async function pendingOf(cluster: Cluster): Promise<number> {
  const { body } = await cluster.api<{ total?: number }>("GET", "/allocations?state=pending&page_size=1");
  return body.total ?? 0;
}

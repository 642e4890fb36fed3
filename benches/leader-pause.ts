// SIGSTOP of the leader of three servers under a steady load, with the default lease: the longest time without an
// acknowledged write and without the start of a job, for clients of the other servers.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "../tests/harness/eventually.ts";
import { kill } from "../tests/harness/processes.ts";
import { Quorum } from "../tests/harness/quorum.ts";
import { type Bench, below, quantile, withoutTarget } from "./figure.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const NODES = 4;
/** The default of `quorum.etcd.lease_seconds`. */
const LEASE_SECONDS = 3;
const PAUSE_MS = 15_000;
const SETTLE_MS = 8_000;
const SUBMIT_EVERY_MS = 200;
const MAX_WRITE_GAP_S = 4;
const MAX_PLACEMENT_GAP_S = 5;

export const leaderPause: Bench = async (log) => {
  const quorum = await Quorum.start({ servers: 3, nodes: NODES, leaseSeconds: LEASE_SECONDS });
  try {
    const starts = join(quorum.dir, "starts");
    const writeGaps: number[] = [];
    const placementGaps: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      writeFileSync(starts, "");
      const { acks, from, until } = await pauseLeader(quorum, starts);
      const started = readFileSync(starts, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => Number(line) / 1e6);
      writeGaps.push(longestGap(acks, from, until));
      placementGaps.push(longestGap(started, from, until));
      log(`no write for ${writeGaps.at(-1)?.toFixed(2)} s, no start for ${placementGaps.at(-1)?.toFixed(2)} s`);
    }
    return [
      withoutTarget("write_gap_p50", quantile(writeGaps, 0.5), "s"),
      below("write_gap_max", quantile(writeGaps, 1), "s", MAX_WRITE_GAP_S),
      withoutTarget("placement_gap_p50", quantile(placementGaps, 0.5), "s"),
      below("placement_gap_max", quantile(placementGaps, 1), "s", MAX_PLACEMENT_GAP_S),
    ];
  } finally {
    await quorum.close();
  }
};

/** Times are milliseconds since 1970: jobs record theirs in other processes. */
async function pauseLeader(quorum: Quorum, starts: string) {
  const leader = await quorum.leader();
  const others = [1, 2, 3].filter((n) => n !== leader);
  const acks: number[] = [];
  const body = { entrypoint: `date +%s%N >> ${starts}`, tenant: "default" };
  const submitting = setInterval(() => {
    for (const n of others)
      quorum.submit(n, body).then(
        () => acks.push(Date.now()),
        () => undefined,
      );
  }, SUBMIT_EVERY_MS);
  await sleep(SETTLE_MS);
  const from = Date.now();
  const { pid } = quorum.server(leader);
  kill(pid, "SIGSTOP");
  await sleep(PAUSE_MS);
  const until = Date.now();
  kill(pid, "SIGCONT");
  clearInterval(submitting);
  await sleep(SETTLE_MS);
  return { acks, from, until };
}

/** In seconds, between two events of which one is after `from`. */
function longestGap(timesMs: readonly number[], from: number, until: number): number {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const before = sorted.filter((at) => at < from).at(-1) ?? from;
  const during = [before, ...sorted.filter((at) => at >= from && at <= until), until];
  return Math.max(...during.slice(1).map((at, n) => at - (during[n] ?? at))) / 1000;
}

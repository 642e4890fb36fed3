// Runs the named benches, or all of them with `all`, one after the other, and prints one JSON line per figure. Without a
// name it lists the benches.
import { agentIdle } from "./agent-idle.ts";
import { agentStart } from "./agent-start.ts";
import { allocationCost } from "./allocation-cost.ts";
import { authOverhead } from "./auth-overhead.ts";
import { cliStart } from "./cli-start.ts";
import { compareSlurm } from "./compare-slurm.ts";
import { dag } from "./dag.ts";
import { elements } from "./elements.ts";
import { estimates } from "./estimates.ts";
import { eventLoop } from "./event-loop.ts";
import { failoverScale } from "./failover-scale.ts";
import type { Bench } from "./figure.ts";
import { heartbeats } from "./heartbeats.ts";
import { herd } from "./herd.ts";
import { historyMemory } from "./history-memory.ts";
import { leaderPause } from "./leader-pause.ts";
import { list100k } from "./list-100k.ts";
import { logFollowers } from "./log-followers.ts";
import { logOutput } from "./log-output.ts";
import { machine } from "./machine.ts";
import { mpiLaunch } from "./mpi-launch.ts";
import { neighbour } from "./neighbour.ts";
import { preemptStart } from "./preempt-start.ts";
import { quorum3, quorum5 } from "./quorum.ts";
import { replay } from "./replay.ts";
import { replayQuality } from "./replay-quality.ts";
import { restartScale } from "./restart-scale.ts";
import { scheduler } from "./scheduler.ts";
import { schedulerGap } from "./scheduler-gap.ts";
import { secondStart } from "./second-start.ts";
import { simulation } from "./simulation.ts";
import { startLatency } from "./start-latency.ts";
import { submitGrpc, submitRest } from "./submit.ts";
import { taskGroup } from "./task-group.ts";
import { terminal } from "./terminal.ts";
import { throughput } from "./throughput.ts";
import { watchers } from "./watchers.ts";
import { why } from "./why.ts";
import { whyRest } from "./why-rest.ts";

interface BenchEntry {
  readonly summary: string;
  readonly run: Bench;
}

const benches: Readonly<Record<string, BenchEntry>> = {
  // First: creating many small files is slow for half a minute after others were deleted, as each bench does.
  throughput: {
    summary: "1,000 allocations of /bin/true on four nodes, from undrain to the last end, twice",
    run: throughput,
  },
  "allocation-cost": { summary: "server CPU time of one allocation, by step of its path", run: allocationCost },
  "submit-rest": { summary: "durable submissions over REST on 16 connections", run: submitRest },
  "compare-slurm": { summary: "the same work through Debian's Slurm and through Lattice", run: compareSlurm },
  "submit-grpc": { summary: "durable submissions over gRPC on 16 connections", run: submitGrpc },
  "start-latency": { summary: "submission to process start on an idle cluster", run: startLatency },
  "agent-start": { summary: "order to process start on the node, bare and in an image", run: agentStart },
  "agent-idle": { summary: "memory and CPU of an idle agent", run: agentIdle },
  neighbour: { summary: "throughput on a shared node beside a fork bomb and a memory hog", run: neighbour },
  "preempt-start": {
    summary: "checkpoint of a victim to the start of the allocation that preempts it",
    run: preemptStart,
  },
  dag: { summary: "cost of dependencies: 1,000 allocations in ten layers", run: dag },
  "task-group": { summary: "task groups of 100,000 elements", run: taskGroup },
  elements: { summary: "elements of /bin/true of one task group on four nodes", run: elements },
  heartbeats: { summary: "server CPU for 10,000 nodes with a heartbeat every 10 s", run: heartbeats },
  "history-memory": { summary: "server memory with 100,000 finished allocations", run: historyMemory },
  "cli-start": { summary: "wall time of short commands", run: cliStart },
  "second-start": { summary: "npm start with everything installed and built", run: secondStart },
  "auth-overhead": { summary: "server CPU per request with a token", run: authOverhead },
  terminal: { summary: "first prompt, keystroke echo and log tail latency", run: terminal },
  "log-output": { summary: "agent memory while a job prints 1 GB", run: logOutput },
  "log-followers": { summary: "server CPU for a hundred followers of one log", run: logFollowers },
  "quorum-3": { summary: "commits and failover with three servers", run: quorum3 },
  "quorum-5": { summary: "commits and failover with five servers", run: quorum5 },
  "leader-pause": { summary: "time without writes and starts while the leader is paused", run: leaderPause },
  "restart-scale": { summary: "restart of a server with 10,000 nodes and 100,000 allocations", run: restartScale },
  "failover-scale": { summary: "failover with 10,000 nodes and 100,000 allocations", run: failoverScale },
  herd: { summary: "reconnection of 10,000 nodes after a failover", run: herd },
  "mpi-launch": { summary: "launch of an MPI program, compared with mpiexec", run: mpiLaunch },
  replay: { summary: "speed of rm-replay", run: replay },
  simulation: { summary: "speed of the simulation of 32 nodes", run: simulation },
  scheduler: { summary: "duration and memory of scheduling cycles", run: scheduler },
  "scheduler-gap": { summary: "distance of plans from the optimum on small instances", run: schedulerGap },
  estimates: { summary: "accuracy of start estimates for jobs of known length", run: estimates },
  why: { summary: "cost of an explanation in the leader", run: why },
  "why-rest": { summary: "latency of explanations over REST", run: whyRest },
  "event-loop": { summary: "blocking of the server's event loop with 50,000 to 100,000 pending", run: eventLoop },
  "list-100k": { summary: "list of 100 out of 100,000 pending allocations", run: list100k },
  watchers: { summary: "server memory and CPU for 1,000 event streams", run: watchers },
  "replay-quality": { summary: "schedule quality on recorded traces", run: replayQuality },
};

const names = process.argv.slice(2);
if (names.length === 0) {
  printList();
  process.exit(0);
}
const unknown = names.find((name) => name !== "all" && benches[name] === undefined);
if (unknown !== undefined) {
  console.error(`unknown bench ${unknown}; list the benches with: npm run bench`);
  process.exit(2);
}

let missed = 0;
for (const [name, { run }] of Object.entries(benches)) {
  if (!names.includes("all") && !names.includes(name)) continue;
  console.error(`== ${name}`);
  const log = (text: string): void => console.error(`   ${text}`);
  for (const figure of await run(log)) {
    console.log(JSON.stringify({ bench: name, ...figure, machine }));
    if (figure.pass === false) missed += 1;
  }
}
process.exit(missed === 0 ? 0 : 1);

function printList(): void {
  const width = Math.max(...Object.keys(benches).map((name) => name.length));
  console.log("Run: npm run bench -- NAME..., or: npm run bench -- all\n");
  for (const [name, { summary }] of Object.entries(benches)) console.log(`  ${name.padEnd(width)}  ${summary}`);
}

// Runs the benches named, or all of them, one after the other, and prints what they measured.
import { agentIdle } from "./agent-idle.ts";
import { agentStart } from "./agent-start.ts";
import { authOverhead } from "./auth-overhead.ts";
import { cliStart } from "./cli-start.ts";
import { dag } from "./dag.ts";
import { failoverScale } from "./failover-scale.ts";
import type { Bench } from "./figure.ts";
import { heartbeats } from "./heartbeats.ts";
import { herd } from "./herd.ts";
import { historyMemory } from "./history-memory.ts";
import { list100k } from "./list-100k.ts";
import { logFollowers } from "./log-followers.ts";
import { logOutput } from "./log-output.ts";
import { machine } from "./machine.ts";
import { mpiLaunch } from "./mpi-launch.ts";
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

const benches: Readonly<Record<string, Bench>> = {
  // First: making many small files is slower for half a minute after others have been deleted, as each bench does.
  throughput,
  "submit-rest": submitRest,
  "submit-grpc": submitGrpc,
  "start-latency": startLatency,
  "agent-start": agentStart,
  "agent-idle": agentIdle,
  "preempt-start": preemptStart,
  dag,
  "task-group": taskGroup,
  heartbeats,
  "history-memory": historyMemory,
  "cli-start": cliStart,
  "second-start": secondStart,
  "auth-overhead": authOverhead,
  terminal,
  "log-output": logOutput,
  "log-followers": logFollowers,
  "quorum-3": quorum3,
  "quorum-5": quorum5,
  "restart-scale": restartScale,
  "failover-scale": failoverScale,
  herd,
  "mpi-launch": mpiLaunch,
  replay,
  simulation,
  scheduler,
  "scheduler-gap": schedulerGap,
  why,
  "why-rest": whyRest,
  "list-100k": list100k,
  watchers,
  "replay-quality": replayQuality,
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => benches[name] === undefined);
if (unknown !== undefined) {
  console.error(`no bench is called ${unknown}; there are: ${Object.keys(benches).join(", ")}`);
  process.exit(2);
}

let missed = 0;
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.error(`== ${name}`);
  const say = (text: string): void => console.error(`   ${text}`);
  for (const figure of await bench(say)) {
    console.log(JSON.stringify({ bench: name, ...figure, machine }));
    if (figure.pass === false) missed += 1;
  }
}
process.exit(missed === 0 ? 0 : 1);

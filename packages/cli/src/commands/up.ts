// `lattice up`: runs a whole cluster on this machine until Ctrl-C. Without a data directory everything is temporary:
// allocations end with the cluster and its files are removed. With one, allocations keep running, and the next `up`
// continues from the same state.

import { randomUUID } from "node:crypto";
import { isatty } from "node:tty";
import { type Command, Option } from "commander";
import { createContext } from "../context.ts";
import { ignoreClosedOutput } from "../output/closed-output.ts";
import type { Printer } from "../output/printer.ts";
import { capitalise } from "../output/text.ts";
import { writeBytes } from "../output/write-bytes.ts";
import { parseCount } from "../parse/count.ts";
import { waitUntilEnded } from "../wait/until-ended.ts";
import { reasonOf } from "./status/table.ts";
import { type Cluster, startCluster } from "./up/cluster.ts";
import { runGuard } from "./up/guard.ts";
import { countRunning, nextSteps, stopSummary } from "./up/messages.ts";
import { DEFAULT_NODES, MAX_NODES } from "./up/node-count.ts";

interface UpFlags {
  readonly nodes?: number;
  readonly dataDir?: string;
  readonly port: number;
  readonly grpcPort: number;
  readonly exit?: boolean;
  readonly demo?: boolean;
  readonly guard?: string;
}

export function define(command: Command): void {
  const port = (text: string) => parseCount(text, 0, 65_535);
  command
    .option("--nodes <count>", `number of nodes (default: as before with --data-dir, else ${DEFAULT_NODES})`, (text) =>
      parseCount(text, 1, MAX_NODES),
    )
    .option("--data-dir <dir>", "keep all data here; the next `up` continues from it")
    .option("--port <port>", "REST port; 0 takes any free one", port, 8080)
    .option("--grpc-port <port>", "gRPC port; 0 takes any free one", port, 50051)
    .option("--demo", "run a sample job")
    .option("--exit", "stop after the cluster is up and the sample job, if any, has run")
    .addOption(new Option("--guard <dir>", "clean up a temporary cluster after standard input ends").hideHelp())
    .action(async (flags: UpFlags) => {
      if (flags.guard !== undefined) return runGuard(flags.guard, process.stdin);
      process.exitCode = await up(command, flags);
    });
}

async function up(command: Command, flags: UpFlags): Promise<number> {
  const { print, settings } = await createContext(command);
  const stop = stopSignal();
  // A closed terminal must not end this process before it has stopped the cluster.
  ignoreClosedOutput();
  // Progress is the output of this command, unless the output is structured.
  const say = (text: string) => {
    if (print.structured) print.note(text);
    else if (!settings.quiet) print.line(text);
  };
  let cluster: Cluster | null = null;
  try {
    cluster = await startCluster({ ...flags, user: settings.user, signal: stop.signal, note: say });
    if (print.structured) await print.streamed(cluster.description);
    else if (settings.quiet) print.line(cluster.url);
    if (flags.demo === true && !(await runDemo(cluster, { print, say, signal: stop.signal }))) {
      if (flags.exit === true) return 1;
    }
    if (flags.exit === true) return 0;
    say(nextSteps(cluster.description));
    await stop.requested;
    return 0;
  } catch (error) {
    // Ctrl-C during the start is no failure.
    if (stop.signal.aborted) return 130;
    throw error;
  } finally {
    if (cluster !== null) {
      say("Stopping the cluster ...");
      const running = await countRunning(cluster.client);
      say(stopSummary(running, await cluster.stop()));
    }
    stop.release();
  }
}

interface StopSignal {
  readonly signal: AbortSignal;
  readonly requested: Promise<void>;
  release(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const REPEAT_MS = 2_000;

function stopSignal(): StopSignal {
  const controller = new AbortController();
  let firstAt = 0;
  // Checked now, because a closed terminal can no longer be detected.
  const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));
  let terminalLost = false;
  const onSignal = (name: NodeJS.Signals) => {
    if (name === "SIGHUP" && hasTerminal) terminalLost = true;
    if (firstAt === 0) firstAt = Date.now();
    else if (Date.now() - firstAt > REPEAT_MS) process.exit(130);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    requested: new Promise((resolve) => {
      // The timer keeps this process alive while nothing else does.
      const alive = setInterval(() => {}, 60_000);
      controller.signal.addEventListener("abort", () => {
        clearInterval(alive);
        resolve();
      });
    }),
    release: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      controller.abort();
      // At exit Node restores the terminal and aborts when it is gone, so the process ends by the signal instead.
      if (terminalLost) process.kill(process.pid, "SIGHUP");
    },
  };
}

const LINE = 'echo "Hello from $LATTICE_NODE, one of $LATTICE_NNODES nodes of allocation $LATTICE_ALLOC_ID"';
const DEMO_NODES = 2;

interface DemoOptions {
  readonly print: Printer;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Returns whether the sample completed. */
async function runDemo(cluster: Cluster, { print, say, signal }: DemoOptions): Promise<boolean> {
  const { client } = cluster;
  const nodes = Math.min(DEMO_NODES, cluster.description.nodes.length);
  say(`\n$ lattice submit --nodes=${nodes} --name=hello --walltime=5m -- sh -c '${LINE}'`);
  const submission = {
    allocation: {
      name: "hello",
      command: ["/bin/sh", "-c", LINE],
      resources: { nodes: { min: nodes, max: nodes } },
      lifecycle: { walltime_seconds: 300 },
    },
  };
  const { id } = await client.submit(submission, { requestId: randomUUID(), signal });
  say(`Submitted allocation ${id}`);
  const ended = await waitUntilEnded(client, id, { signal });
  say(`\n$ lattice logs ${id}`);
  if (!print.structured) await writeBytes(client.logs(id, { stream: "stdout" }, { signal }));
  if (ended.state === "completed") return true;
  say(`The sample job ended as ${capitalise(ended.state)}: ${reasonOf(ended)}`);
  return false;
}

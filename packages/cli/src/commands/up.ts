// `lattice up`: runs a whole cluster on this machine until Ctrl-C. Without a data directory everything is temporary:
// allocations end with the cluster and its files are removed. With one, allocations keep running, and the next `up`
// continues from the same state.

import { type Command, Option } from "commander";
import { createContext } from "../context.ts";
import { ignoreClosedOutput } from "../output/closed-output.ts";
import { parseCount } from "../parse/count.ts";
import { type Cluster, startCluster } from "./up/cluster.ts";
import { runDemo } from "./up/demo.ts";
import { runGuard } from "./up/guard.ts";
import { countRunning, nextSteps, stopSummary } from "./up/messages.ts";
import { DEFAULT_NODES, MAX_NODES } from "./up/node-count.ts";
import { stopSignal } from "./up/stop-signal.ts";

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

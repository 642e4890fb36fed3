// `lattice up`: a whole cluster on this machine, kept running until Ctrl-C. Without a data
// directory everything is temporary: workloads end with the cluster and its files are removed.
// With one, workloads go on and the next `up` continues where this one stopped.

import { type Command, Option } from "commander";
import { createContext } from "../context.ts";
import { outliveClosedOutput } from "../output/closed-output.ts";
import { parseCount } from "../parse/count.ts";
import { type Cluster, startCluster } from "./up/cluster.ts";
import { runDemo } from "./up/demo.ts";
import { countRunning, farewell } from "./up/farewell.ts";
import { watchOver } from "./up/guard.ts";
import { nextSteps } from "./up/next-steps.ts";
import { MOST_NODES, USUAL_NODES } from "./up/node-count.ts";
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
    .option("--nodes <count>", `how many nodes (default: as before with --data-dir, else ${USUAL_NODES})`, (text) =>
      parseCount(text, 1, MOST_NODES),
    )
    .option("--data-dir <dir>", "keep everything here; the next `up` goes on where this one stopped")
    .option("--port <port>", "port of the REST interface; 0: any free one", port, 8080)
    .option("--grpc-port <port>", "port of the gRPC interface; 0: any free one", port, 50051)
    .option("--demo", "run a sample job first")
    .option("--exit", "end once the cluster is up and the sample, if any, has run")
    .addOption(new Option("--guard <dir>", "clear away a temporary cluster once standard input ends").hideHelp())
    .action(async (flags: UpFlags) => {
      if (flags.guard !== undefined) return watchOver(flags.guard, process.stdin);
      process.exitCode = await up(command, flags);
    });
}

async function up(command: Command, flags: UpFlags): Promise<number> {
  const { print, settings } = await createContext(command);
  const stop = stopSignal();
  // A closed terminal must not end this process before the cluster is stopped.
  outliveClosedOutput();
  // The course of things is the output of this command, unless a program reads it.
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
    // Ctrl-C while starting is a wish, not a failure.
    if (stop.signal.aborted) return 130;
    throw error;
  } finally {
    if (cluster !== null) {
      say("Stopping the cluster ...");
      const running = await countRunning(cluster.client);
      say(farewell(running, await cluster.stop()));
    }
    stop.release();
  }
}

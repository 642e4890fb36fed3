// The program `lattice-mpi-launcher` replaces ssh when Hydra's `mpiexec` starts its proxies on the nodes
// of an allocation (`-launcher ssh -launcher-exec lattice-mpi-launcher`, which the agent sets inside a
// job). It takes the arguments of ssh (options, host, command) and runs the command there as a task.

import { createClient } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { reconnectOptions } from "./launch/handover.ts";
import { parseSshArguments } from "./mpi-launcher/ssh-arguments.ts";
import { reportError } from "./output/report-error.ts";
import { readCaCertificate } from "./settings/ca-certificate.ts";
import { readConfigFile } from "./settings/config-file.ts";
import { NO_FLAGS, resolveSettings } from "./settings/settings.ts";

const INTERRUPTED = 130;
const OUTSIDE = "Run mpiexec in a job, or as a task: lattice launch --alloc=ID -n 1 mpiexec ...";
try {
  process.exitCode = await run(process.argv.slice(2), process.env);
} catch (error) {
  process.exitCode = reportError(error, process.argv.slice(2));
}

async function run(words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const remote = parseSshArguments(words);
  const id = env.LATTICE_ALLOC_ID;
  if (id === undefined || id === "")
    throw new ProblemError("invalid_argument", {
      detail: "LATTICE_ALLOC_ID is not set: mpiexec runs outside an allocation",
      hint: OUTSIDE,
    });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  const settings = resolveSettings({
    flags: NO_FLAGS,
    env,
    file: await readConfigFile(undefined, env),
    username: env.USER ?? "unknown",
    isTerminal: false,
  });
  const { url, user } = settings;
  const client = createClient({ url, user, ca: await readCaCertificate(settings.ca), token: env.LATTICE_TOKEN });
  const request = { command: ["/bin/sh", "-c", remote.line], tasks: 1, nodes: [remote.host], pmi: "none" as const };
  try {
    for await (const event of client.tasks.launch(id, request, {
      signal: stop.signal,
      ...reconnectOptions(process.env),
    })) {
      if (event.kind === "output") (event.stream === "stderr" ? process.stderr : process.stdout).write(event.data);
      if (event.kind === "end") return event.exitCode;
    }
  } catch (error) {
    if (stop.signal.aborted) return INTERRUPTED;
    throw error;
  }
  throw new ProblemError("connection_failed", { detail: "the server closed the launch stream before the tasks ended" });
}

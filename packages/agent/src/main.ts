// The program `lattice-agent`: reads its command line and starts the agent. On SIGTERM or SIGINT it closes the link
// and exits; workloads keep running.

import { startAgent } from "./agent/agent.ts";
import { watchInternalErrors } from "./base/internal-errors.ts";
import { createLogger } from "./base/logger.ts";
import { logStderr } from "./base/stderr.ts";
import { version } from "./base/version.ts";
import { parseOptions } from "./options/options.ts";

/** Lets the last messages and log lines leave the process. */
const FLUSH_MS = 50;
const options = parseOptions(process.argv.slice(2), process.env, version);
const log = createLogger({ level: options.logLevel, node: options.nodeId });
logStderr(process, log);
const internalErrors = watchInternalErrors(process, log, (code) => process.exit(code));

try {
  const agent = await startAgent(options, { log, version, internalErrors });
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal, live: agent.live() }, "stopping");
    void agent.close().then(() => setTimeout(() => process.exit(0), FLUSH_MS));
  };
  void agent.failed.then((reason) => {
    log.fatal({ error: reason }, "cannot serve");
    void agent.close().then(() => setTimeout(() => process.exit(1), FLUSH_MS));
  });
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
} catch (error) {
  log.fatal({ error: (error as Error).message }, "cannot start");
  // Timers and sockets opened before the failure must not keep the process alive.
  setTimeout(() => process.exit(1), FLUSH_MS);
}

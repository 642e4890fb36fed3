// The program `lattice-agent`: reads its command line, starts the agent, and on SIGTERM or SIGINT
// closes the link and goes, leaving workloads to run.

import { startAgent } from "./agent.ts";
import { createLogger } from "./logger.ts";
import { parseOptions } from "./options.ts";
import { version } from "./version.ts";

/** For the last words, on the link and in the log, to leave the process. */
const FLUSH_MS = 50;
const options = parseOptions(process.argv.slice(2), process.env, version);
const log = createLogger({ level: options.logLevel, node: options.nodeId });

try {
  const agent = await startAgent(options, { log, version });
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal, live: agent.live() }, "stopping");
    void agent.close().then(() => setTimeout(() => process.exit(0), FLUSH_MS));
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
} catch (error) {
  log.fatal({ error: (error as Error).message }, "cannot start");
  // Whatever was begun before it failed must not keep it.
  setTimeout(() => process.exit(1), FLUSH_MS);
}

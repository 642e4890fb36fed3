// The table of settings, in the order of the configuration file. The `Config` type, the parser of the file, `lattice admin config`,
// docs/reference/settings.md and config/production.yaml all follow from it: a new setting is one row.

import { rowsOf, type Section, type ValuesOf } from "../schema/setting.ts";
import { checkpoint, faults, node_agent, retention, scheduler, scheduling } from "./scheduling.ts";
import { api, log, quorum, server } from "./server.ts";
import {
  accounting,
  audit,
  backup,
  compat,
  fabric,
  logs,
  network,
  notifications,
  rate_limits,
  sessions,
  tasks,
  telemetry,
} from "./services.ts";

export const TABLE = {
  server,
  quorum,
  api,
  scheduling,
  scheduler,
  node_agent,
  faults,
  retention,
  checkpoint,
  logs,
  sessions,
  rate_limits,
  audit,
  accounting,
  backup,
  notifications,
  network,
  telemetry,
  fabric,
  tasks,
  compat,
  log,
} satisfies Section;

/** The values of the file, before anything is derived from them. */
export type Settings = ValuesOf<typeof TABLE>;

/** Every row by its key, such as "backup.s3.region". */
export const SETTINGS = new Map(rowsOf(TABLE));

export const SECTION_DOCS: Readonly<Record<keyof typeof TABLE, string>> = {
  server: "This server.",
  quorum: "The log and the servers that share it.",
  api: "Listeners, authentication and TLS.",
  scheduling: "The scheduler.",
  scheduler: "Traces and conformance.",
  node_agent: "Health of nodes.",
  faults: "Nodes that fail, see docs/operating/nodes.md.",
  retention: "Finished allocations.",
  checkpoint: "When running work is asked for a checkpoint, see docs/operating/checkpoints.md.",
  logs: "Storage of the output of finished work, see docs/users/logs.md.",
  sessions: "Terminals.",
  rate_limits:
    "Limits per caller on this server. Calls over a limit are refused with 429 and the time to wait. rate_limit is another name of this section.",
  audit: "The audit log, see docs/operating/audit.md.",
  accounting: "Accounting systems.",
  backup: "See docs/operating/backup-and-recovery.md.",
  notifications: "Webhooks, see docs/operating/notifications.md.",
  network: "Network domains, see docs/operating/network-domains.md.",
  telemetry: "Metrics of nodes and work.",
  fabric: "The manager of the high-speed network, see docs/operating/fabric.md.",
  tasks: "Parallel launches.",
  compat: "Compatibility with Slurm.",
  log: "The server's own log.",
};

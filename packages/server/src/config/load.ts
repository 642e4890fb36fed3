// The one door for configuration: a YAML file (or none), with what the command line states laid
// over it, becomes a frozen Config. Everything wrong is reported at once, each with its path, and
// an unknown key with the nearest known one. Values are taken as written: no `${}` is expanded,
// so that a file means the same in every environment.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { seconds } from "@lattice/core";
import { nearest } from "@lattice/wire";
import { LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { completeAudit } from "./audit.ts";
import { completeAuth } from "./auth.ts";
import { completeBackup } from "./backup.ts";
import { completeCheckpoint } from "./checkpoint.ts";
import type { Config } from "./config.ts";
import { completeFabric } from "./fabric.ts";
import { completeFaults } from "./faults.ts";
import { namesAt } from "./keys.ts";
import { completeLogs } from "./logs.ts";
import { elsewhere, withFirstNames } from "./names.ts";
import { completeNetwork } from "./network.ts";
import { completeNotifications } from "./notifications.ts";
import { ConfigError, type ConfigProblem } from "./problem.ts";
import { completeQuorum } from "./quorum.ts";
import { completeRateLimits } from "./rate-limits.ts";
import { fileSchema, type ParsedFile } from "./schema.ts";
import { statedOf } from "./stated.ts";
import { completeTls } from "./tls.ts";
import { completeTrace } from "./trace.ts";

/** As in the file: section, key, value. Undefined values are left out. */
export type ConfigOverrides = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A configuration file is a few kilobytes; anything larger is a mistake. */
const MAX_FILE_BYTES = 1_048_576;

export function loadConfig(path: string | null, overrides: ConfigOverrides = {}): Config {
  const source = path ?? "the configuration";
  const written = withFirstNames(path === null ? {} : readFile(path));
  const result = fileSchema.safeParse(overlay(written.document, overrides));
  const problems = [...written.problems, ...(result.error?.issues.flatMap(toProblems) ?? [])];
  if (!result.success || problems.length > 0) throw new ConfigError(source, problems);
  const stated = statedOf({ flags: overrides, file: written.document, environment: process.env });
  return deepFreeze({ ...complete(result.data), stated });
}

function readFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unreadable";
    throw new ConfigError(path, [{ path: "", message: `cannot be read (${code})` }]);
  }
  if (text.length > MAX_FILE_BYTES) throw new ConfigError(path, [{ path: "", message: "is larger than 1 MiB" }]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const problems = document.errors.map((error) => {
    const at = lines.linePos(error.pos[0]);
    return { path: "", message: `line ${at.line}, column ${at.col}: ${error.message.split("\n")[0] ?? ""}` };
  });
  if (problems.length > 0) throw new ConfigError(path, problems);
  return document.toJS({ maxAliasCount: 0 });
}

function overlay(written: unknown, overrides: ConfigOverrides): unknown {
  if (written !== null && written !== undefined && (typeof written !== "object" || Array.isArray(written)))
    return written;
  const merged: Record<string, unknown> = { ...written };
  for (const [name, values] of Object.entries(overrides)) {
    const stated = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    const below = merged[name];
    merged[name] = typeof below === "object" && below !== null ? { ...below, ...stated } : stated;
  }
  return merged;
}

function complete(file: ParsedFile): Omit<Config, "stated"> {
  const dataDir = resolve(file.server.data_dir);
  const auth = completeAuth(file.api, process.env);
  return {
    server: {
      id: file.server.id ?? `server-${file.quorum.node_id}`,
      dataDir,
      production: file.server.production,
    },
    quorum: completeQuorum(file.quorum, dataDir),
    api: {
      grpcListen: file.api.grpc_listen,
      restListen: file.api.rest_listen,
      advertiseGrpc: file.api.advertise_grpc ?? file.api.grpc_listen,
      allowUnauthenticated: file.api.allow_unauthenticated,
      autoCreateTenants: file.api.auto_create_tenants ?? !file.server.production,
      auth,
      headersTimeout: file.api.headers_timeout,
      requestTimeout: file.api.request_timeout,
      tokenRecheckInterval: file.api.token_recheck_interval,
      proxyAnswerTimeout: file.api.proxy_answer_timeout,
      allowedOrigins: file.api.allowed_origins,
      loginScopes: file.api.oidc_scopes,
      tls: completeTls(file.api),
    },
    scheduling: {
      minCycleMs: file.scheduling.min_cycle_ms,
      backfillDepth: file.scheduling.backfill_depth,
      budgetPeriodDays: file.scheduling.budget_period_days,
      maxDagSize: file.scheduling.max_dag_size,
      storageMBps: file.scheduling.storage_mb_per_second ?? null,
      sensitivePoolSize: file.scheduling.sensitive_pool_size ?? null,
    },
    scheduler: {
      trace: completeTrace(file.scheduler, dataDir),
      fingerprintWindow:
        file.scheduler.fingerprint_window_days === 0 ? null : seconds(file.scheduler.fingerprint_window_days * 86_400),
    },
    nodeAgent: {
      heartbeatInterval: file.node_agent.heartbeat_interval,
      heartbeatTimeout: file.node_agent.heartbeat_timeout,
      gracePeriod: file.node_agent.grace_period,
      borrowedGracePeriod: file.node_agent.borrowed_grace_period,
      sensitiveHeartbeatTimeout: file.node_agent.sensitive_heartbeat_timeout,
      sensitiveGracePeriod: file.node_agent.sensitive_grace_period,
    },
    faults: completeFaults(file.faults),
    retention: { maxFinished: file.retention.max_finished, maxFinishedAge: file.retention.max_finished_age },
    checkpoint: completeCheckpoint(file.checkpoint),
    logs: completeLogs(file.logs, process.env),
    sessions: { idleTimeout: file.sessions.idle_timeout, keepaliveTimeout: file.sessions.keepalive_timeout },
    rateLimits: completeRateLimits(file.rate_limits),
    audit: completeAudit(file.audit, dataDir),
    backup: completeBackup(file.backup, dataDir, process.env),
    telemetry: { storeUrl: file.telemetry.store_url ?? null },
    network: completeNetwork(file.network),
    notifications: completeNotifications(file.notifications, process.env),
    fabric: completeFabric(file.fabric, process.env),
    tasks: { fenceStarNodes: file.tasks.fence_star_nodes },
    compat: { setSlurmEnv: file.compat.set_slurm_env },
    log: { level: file.log.level, access: file.log.access ?? (auth.kind === "none" ? "none" : "all") },
  };
}

function toProblems(issue: z.core.$ZodIssue): ConfigProblem[] {
  const path = issue.path.map(String);
  if (issue.code !== "unrecognized_keys") return [{ path: path.join("."), message: issue.message }];
  const known = namesAt(path);
  return issue.keys.map((name) => {
    const key = [...path, name].join(".");
    const suggestion = nearest(name, known);
    const help = suggestion === null ? `known keys: ${known.join(", ")}` : `did you mean ${suggestion}?`;
    return { path: key, message: elsewhere(key) ?? `is not a known key; ${help}` };
  });
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}

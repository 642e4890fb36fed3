// The job allocation of salloc and srun: nodes that are requested, waited for with Slurm's messages, and released
// when the command ends. It is a Lattice session: an allocation with nothing to run.

import { randomUUID } from "node:crypto";
import { type Session, sleep } from "@lattice/sdk";
import { type JsonObject, type Option, parseScript } from "@lattice/wire";
import { has, lastValue, type SlurmCommandLine } from "./command-line.ts";
import { printError, type SlurmContext } from "./context.ts";
import { SlurmError, slurmError, unsupported } from "./slurm-error.ts";
import { submitProblem } from "./submit-problems.ts";
import { slurmVariables } from "./variables.ts";

export interface JobAllocation {
  readonly id: string;
  readonly nodes: readonly string[];
  /** Releases the nodes and records the exit status of the command. */
  readonly end: (exitCode: number) => Promise<void>;
}

const FIRST_POLL_MS = 40;
const MAX_POLL_MS = 1_000;
const PENDING_STATES = new Set<string>(["pending", "staging", "suspended"]);

interface AllocateOptions {
  /** Aborts the wait. */
  readonly signal: AbortSignal;
  /** Limit of the wait (-I); `undefined` waits without limit. */
  readonly seconds?: number | undefined;
}

/** Parses `-I`, `-I30` and `--immediate=30`. */
export function immediateSeconds(words: SlurmCommandLine): number | undefined {
  if (!has(words, "immediate")) return undefined;
  return Number.parseInt(lastValue(words, "immediate") ?? "1", 10) || 1;
}

/** Throws a SlurmError when the nodes are not available. */
export async function allocate(
  context: SlurmContext,
  body: JsonObject,
  { signal, seconds }: AllocateOptions,
): Promise<JobAllocation> {
  const { client, program } = context;
  const limited = { ...body, ...(await limitFor(context, body)) };
  const created = await client.sessions.create(limited, { requestId: randomUUID() }).catch(async (error: unknown) => {
    throw await submitProblem(context, error, typeof body.vcluster === "string" ? body.vcluster : undefined);
  });
  const id = created.allocation_id;
  for (const warning of created.warnings ?? []) printError(`${program}: warning: ${warning}`);
  let session: Session;
  try {
    const until = seconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + seconds * 1000;
    session = await untilRunning(context, { sessionId: created.session_id, id, until }, signal);
  } catch (error) {
    await client.sessions.end(created.session_id);
    if (!signal.aborted) throw error;
    throw new SlurmError([`${program}: Job allocation ${id} has been revoked`], 1);
  }
  if (session.state !== "running") {
    throw new SlurmError([
      `${program}: error: Job allocation ${id} has been revoked: ${session.reason ?? session.state}`,
    ]);
  }
  const end = async (exitCode: number): Promise<void> =>
    void (await client.sessions.end(created.session_id, { exit_code: exitCode, fail_on_nonzero_exit: true }));
  return { id, nodes: session.nodes ?? [], end };
}

/** Returns the walltime for a request without -t: the default of the vCluster, as Slurm uses that of the partition. */
async function limitFor({ client }: SlurmContext, body: JsonObject): Promise<JsonObject> {
  if (body.walltime_seconds !== undefined) return {};
  const { vclusters } = await client.vclusters.list();
  const own = vclusters.find(({ id, is_default }) =>
    body.vcluster === undefined ? is_default === true : id === body.vcluster,
  );
  const walltime =
    own?.default_walltime_seconds ||
    Math.min(own?.max_walltime_seconds || FALLBACK_WALLTIME_SECONDS, FALLBACK_WALLTIME_SECONDS);
  return { walltime_seconds: walltime };
}

/** Used when the vCluster has no default: long enough for interactive work, short enough to free forgotten nodes. */
const FALLBACK_WALLTIME_SECONDS = 3600;

interface PendingSession {
  readonly sessionId: string;
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

async function untilRunning(
  context: SlurmContext,
  { sessionId, id, until }: PendingSession,
  signal: AbortSignal,
): Promise<Session> {
  let announced = false;
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
    const session = await context.client.sessions.get(sessionId);
    if (!PENDING_STATES.has(session.state)) {
      if (announced) printError(`${context.program}: job ${id} has been allocated resources`);
      return session;
    }
    if (Date.now() >= until)
      throw slurmError(context.program, "Unable to allocate resources: Requested nodes are busy");
    if (!announced && pause > 10 * FIRST_POLL_MS) {
      announced = true;
      printError(`${context.program}: job ${id} queued and waiting for resources`);
    }
    await sleep(pause, signal);
  }
}

/** Converts the options of salloc and srun into a request for nodes. */
export function nodesRequest(context: SlurmContext, options: readonly Option[], name: string): JsonObject {
  const { compat, cwd, program } = context;
  const relevant = options.filter((option) => !STEP_ONLY.has(option.name));
  const { submission, warnings, options: parsed } = parseScript("#!/bin/sh\n:\n", compat.mapping, relevant);
  for (const warning of warnings) printError(`${program}: warning: ${warning}`);
  if (submission.hold === true) throw unsupported(program, "--hold", "submit a held job with sbatch");
  const { script: _script, workdir: _workdir, ...rest } = submission;
  const requested = new Map(parsed.map((option) => [option.name, option.value ?? ""]));
  return {
    cpus_per_task: 1,
    name,
    workdir: cwd,
    ...(context.tenant === undefined ? {} : { tenant: context.tenant }),
    ...(context.vcluster === undefined ? {} : { vcluster: context.vcluster }),
    ...rest,
    env: slurmVariables(requested, submission, cwd),
    slurm_env: true,
  };
}

/** Options of the step (how tasks start); they do not affect which nodes are requested. */
const STEP_ONLY = new Set([
  "output",
  "error",
  "input",
  "export",
  "chdir",
  "distribution",
  "quiet",
  "verbose",
  "no-kill",
]);

// Nodes for as long as a command runs: asked for, waited for as Slurm says it waits, and given back
// however the command ends. They are a session of Lattice, which is an allocation with nothing to run.

import { randomUUID } from "node:crypto";
import { type Session, sleep } from "@lattice/sdk";
import { type JsonObject, type Option, parseScript } from "@lattice/wire";
import { complain, type Desk } from "./desk.ts";
import { notOffered, Refusal, refuse } from "./refusal.ts";
import { submitProblem } from "./submit-problems.ts";
import { slurmVariables } from "./variables.ts";
import { has, lastValue, type Words } from "./words.ts";

export interface Held {
  readonly id: string;
  readonly nodes: readonly string[];
  /** Gives the nodes back; with the exit status of what ran on them. */
  readonly end: (exitCode: number) => Promise<void>;
}

const FIRST_LOOK_MS = 40;
const LONGEST_PAUSE_MS = 1_000;
const WAITS = new Set<string>(["pending", "staging", "suspended"]);

export interface Waiting {
  /** Gives up. */
  readonly signal: AbortSignal;
  /** Of -I: whoever has not got them by then does not want them. Undefined: waits on. */
  readonly seconds?: number | undefined;
}

/** `-I`, `-I30`, `--immediate=30`. */
export function patienceOf(words: Words): number | undefined {
  if (!has(words, "immediate")) return undefined;
  return Number.parseInt(lastValue(words, "immediate") ?? "1", 10) || 1;
}

/** Throws a Refusal when they are not to be had. */
export async function allocate(desk: Desk, body: JsonObject, { signal, seconds }: Waiting): Promise<Held> {
  const { client, program } = desk;
  const limited = { ...body, ...(await limitFor(desk, body)) };
  const created = await client.sessions.create(limited, { requestId: randomUUID() }).catch(async (error: unknown) => {
    throw await submitProblem(desk, error, typeof body.vcluster === "string" ? body.vcluster : undefined);
  });
  const id = created.allocation_id;
  for (const warning of created.warnings ?? []) complain(`${program}: warning: ${warning}`);
  let session: Session;
  try {
    const until = seconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + seconds * 1000;
    session = await untilRunning(desk, { sessionId: created.session_id, id, until }, signal);
  } catch (error) {
    await client.sessions.end(created.session_id);
    if (!signal.aborted) throw error;
    throw new Refusal([`${program}: Job allocation ${id} has been revoked`], 1);
  }
  if (session.state !== "running") {
    throw new Refusal([`${program}: error: Job allocation ${id} has been revoked: ${session.reason ?? session.state}`]);
  }
  const end = async (exitCode: number): Promise<void> =>
    void (await client.sessions.end(created.session_id, { exitCode, exitCounts: true }));
  return { id, nodes: session.nodes ?? [], end };
}

/** Without -t: what the vCluster gives, as Slurm takes the limit of the partition. */
async function limitFor({ client }: Desk, body: JsonObject): Promise<JsonObject> {
  if (body.walltime_seconds !== undefined) return {};
  const { vclusters } = await client.vclusters.list();
  const own = vclusters.find(({ id, is_default }) =>
    body.vcluster === undefined ? is_default === true : id === body.vcluster,
  );
  const usual =
    own?.default_walltime_seconds || Math.min(own?.max_walltime_seconds || UNSTATED_SECONDS, UNSTATED_SECONDS);
  return { walltime_seconds: usual };
}

/** Where not even the vCluster says how long: long enough for a look, short enough to be forgotten. */
const UNSTATED_SECONDS = 3600;

interface Asked {
  readonly sessionId: string;
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

async function untilRunning(desk: Desk, { sessionId, id, until }: Asked, signal: AbortSignal): Promise<Session> {
  let told = false;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const session = await desk.client.sessions.get(sessionId);
    if (!WAITS.has(session.state)) {
      if (told) complain(`${desk.program}: job ${id} has been allocated resources`);
      return session;
    }
    if (Date.now() >= until) throw refuse(desk.program, "Unable to allocate resources: Requested nodes are busy");
    if (!told && pause > 10 * FIRST_LOOK_MS) {
      told = true;
      complain(`${desk.program}: job ${id} queued and waiting for resources`);
    }
    await sleep(pause, signal);
  }
}

/** The options of salloc and srun as a request for nodes. */
export function nodesRequest(desk: Desk, options: readonly Option[], name: string): JsonObject {
  const { compat, cwd, program } = desk;
  const relevant = options.filter((option) => !STEP_ONLY.has(option.name));
  const { submission, warnings, options: said } = parseScript("#!/bin/sh\n:\n", compat.mapping, relevant);
  for (const warning of warnings) complain(`${program}: warning: ${warning}`);
  if (submission.hold === true) throw notOffered(program, "--hold", "a job that is held is submitted by sbatch");
  const { script: _script, workdir: _workdir, ...rest } = submission;
  const asked = new Map(said.map((option) => [option.name, option.value ?? ""]));
  return {
    name,
    workdir: cwd,
    ...(desk.tenant === undefined ? {} : { tenant: desk.tenant }),
    ...(desk.vcluster === undefined ? {} : { vcluster: desk.vcluster }),
    ...rest,
    env: slurmVariables(asked, submission, cwd),
    slurm_env: true,
  };
}

/** They say how tasks are started, not where; their loss changes nothing about the nodes. */
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

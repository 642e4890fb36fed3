// `sbatch`: submits a script, or a command line with --wrap, and prints the job id. Flags win over SBATCH_* variables,
// which win over the script's directives.

import { randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Allocation } from "@lattice/sdk";
import {
  compressHosts,
  type Json,
  type JsonObject,
  MAX_SCRIPT_BYTES,
  mergeSubmissions,
  type ParsedScript,
  parseScript,
  slurmOutputFile,
} from "@lattice/wire";
import { EXIT_SUSPENDED, hasEnded, waitUntilEnded } from "../wait/until-ended.ts";
import { prepareScript } from "./batch-script.ts";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, lastValue, parseCommandLine, type SlurmCommandLine } from "./command-line.ts";
import { print, printError, type SlurmContext } from "./context.ts";
import { JOB_RULES, jobOptions } from "./job-options.ts";
import { LIVE } from "./jobs.ts";
import { saveOutput } from "./output-file.ts";
import { SlurmError, slurmError } from "./slurm-error.ts";
import { submitProblem } from "./submit-problems.ts";
import { localTime } from "./times.ts";
import {
  checkExported,
  exportedVariables,
  slurmVariables,
  withCommandsFirst,
  withoutSearchPaths,
} from "./variables.ts";

const GRAMMAR: Grammar = {
  program: "sbatch",
  stopsAtOperand: true,
  exit: 255,
  rules: [
    ...JOB_RULES,
    { long: "parsable" },
    { long: "test-only" },
    { long: "wait", short: "W" },
    { long: "wrap", value: "required" },
  ],
};

export const command: SlurmCommand = {
  help: "Usage: sbatch [OPTIONS] SCRIPT [ARGS] | sbatch [OPTIONS] --wrap COMMAND\nOptions are those of #SBATCH lines, and: --parsable --test-only --wait --wrap",
  run: async (context, argv) => {
    const words = readBatchWords(argv);
    const { body: own, options, warnings } = batchSubmission(context, words, readSource(words));
    if (!has(words, "quiet")) for (const warning of warnings) printError(`sbatch: warning: ${warning}`);
    const partition = options.get("partition");
    try {
      const body = await resolveSingleton(context, own);
      if (has(words, "test-only")) return await showTestOnly(context, body);
      return await submit(context, words, body);
    } catch (error) {
      throw await submitProblem(context, error, partition);
    }
  },
};

export const readBatchWords = (argv: readonly string[]): SlurmCommandLine => parseCommandLine(GRAMMAR, argv);

interface BatchSource {
  readonly text: string;
  readonly name: string;
  readonly args: readonly string[];
}

function readSource({ given, operands }: SlurmCommandLine): BatchSource {
  const wrap = given.findLast(({ name }) => name === "wrap")?.value;
  const [path, ...args] = operands;
  if (wrap !== undefined && wrap !== null) {
    if (path !== undefined) throw slurmError("sbatch", "Script arguments not permitted with --wrap option");
    return { text: `#!/bin/sh\n# Made by sbatch --wrap.\n${wrap}\n`, name: "wrap", args: [] };
  }
  if (path === undefined || path === "-") return { text: readFileSync(0, "utf8"), name: "sbatch", args };
  try {
    if (statSync(path).size > MAX_SCRIPT_BYTES)
      throw slurmError("sbatch", `${path} is larger than ${MAX_SCRIPT_BYTES} bytes`);
    return { text: readFileSync(path, "utf8"), name: basename(path), args };
  } catch (error) {
    if (error instanceof SlurmError) throw error;
    throw slurmError("sbatch", `Unable to open file ${path}`);
  }
}

interface BatchSubmission {
  readonly body: JsonObject;
  /** The effective options of script and caller, by long name. */
  readonly options: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** Builds the submission and its warnings, without sending it. */
export function batchSubmission(
  context: SlurmContext,
  words: SlurmCommandLine,
  { text, name, args }: BatchSource,
): BatchSubmission {
  const { compat, cwd, env } = context;
  const over = jobOptions("sbatch", words, env, "SBATCH");
  const parsed: ParsedScript = parseScript(text, compat.mapping, over);
  const options = new Map(parsed.options.map((option) => [option.name, option.value ?? ""]));
  const { nodes, tasks, total_gpus: gpus } = parsed.submission;
  const bin = env.LATTICE_COMPAT_BIN;
  const prepared = prepareScript(text, {
    args,
    bin,
    many: mayHaveManyNodes({ nodes, tasks, gpus }),
    signal: options.get("signal"),
  });
  const exported = exportedTo(
    context,
    lastValue(words, "export") ?? env.SBATCH_EXPORT ?? options.get("export"),
    parsed.submission,
  );
  const variables = { ...exported.variables, ...slurmVariables(options, parsed.submission, cwd) };
  const workdir = parsed.submission.workdir;
  const defaults: JsonObject = {
    cpus_per_task: 1,
    name,
    workdir: cwd,
    ...(context.tenant === undefined ? {} : { tenant: context.tenant }),
    ...(context.vcluster === undefined ? {} : { vcluster: context.vcluster }),
  };
  const files = outputFiles(parsed.submission);
  const body = mergeSubmissions(mergeSubmissions(defaults, parsed.submission), {
    ...files,
    script: prepared.text,
    slurm_env: true,
    env: variables,
    ...(typeof workdir === "string" ? { workdir: resolve(cwd, workdir) } : {}),
  });
  const handled = ["--export=", ...(prepared.signals ? ["--signal="] : [])];
  const unhandled = parsed.warnings.filter((warning) => !handled.some((option) => warning.includes(option)));
  return { body, options, warnings: [...unhandled, ...prepared.warnings, ...exported.missing.map(unset)] };
}

/** The server finds the number of nodes for tasks. */
const mayHaveManyNodes = ({ nodes, tasks = 1, gpus = 1 }: Readonly<Record<string, Json | undefined>>): boolean =>
  nodes === undefined ? `${tasks}` !== "1" || `${gpus}` !== "1" : `${nodes}` !== "1";

/** As in Slurm the default is the whole environment, unless the site has chosen another. */
function exportedTo({ compat, env }: SlurmContext, named: string | undefined, submission: JsonObject) {
  const { variables, missing } = exportedVariables(named ?? compat.exports, env);
  const fit = named === undefined && submission.image !== undefined ? withoutSearchPaths(variables) : variables;
  checkExported("sbatch", fit);
  return { variables: withCommandsFirst(fit, env.LATTICE_COMPAT_BIN), missing };
}

const unset = (name: string): string => `--export: ${name} is not set`;

/** The default output file is optional: the job does not fail when it cannot be written. */
function outputFiles(submission: JsonObject): JsonObject {
  if (submission.output_file !== undefined) return {};
  const { output } = submission;
  return {
    output_file: slurmOutputFile(submission),
    output: { ...(typeof output === "object" && output !== null ? output : {}), if_possible: true },
  };
}

/** Tolerated clock difference between this machine and file servers. */
const CLOCK_LEEWAY_MS = 5_000;

async function submit(context: SlurmContext, words: SlurmCommandLine, body: JsonObject): Promise<number> {
  const { client } = context;
  const sinceMs = Date.now() - CLOCK_LEEWAY_MS;
  const answer = await client.submit(body, { requestId: randomUUID() });
  for (const warning of answer.warnings ?? []) printError(`sbatch: warning: ${warning}`);
  print(has(words, "parsable") ? answer.id : `Submitted batch job ${answer.id}`);
  if (!has(words, "wait")) return 0;
  const last = await waitUntilEnded(client, answer.id, { orSuspended: true });
  if (!hasEnded(last)) {
    printError(`sbatch: job ${answer.id} is suspended; to continue it run: lattice resume ${answer.id}`);
    return EXIT_SUSPENDED;
  }
  const ended = await elementsOf(context, last);
  const { output_file: output, error_file: error } = body;
  const patterns = { output: fileOf(output), error: fileOf(error), cwd: `${body.workdir}`, sinceMs };
  for (const job of ended) await saveOutput(client, job, patterns);
  return Math.max(0, ...ended.map(exitOf));
}

const fileOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Returns the elements of an array, or the job itself. */
async function elementsOf({ client }: SlurmContext, job: Allocation): Promise<readonly Allocation[]> {
  if (job.group === undefined) return [job];
  const elements: Allocation[] = [];
  const state = ["completed", "failed", "cancelled"] as const;
  for await (const element of client.listAll({ group_id: job.id, expand: true, state })) elements.push(element);
  return elements.length === 0 ? [job] : elements;
}

function exitOf({ state, exit_code: code = 1 }: Allocation): number {
  if (state === "completed") return 0;
  return code > 0 && code < 256 ? code : 1;
}

async function showTestOnly({ client, compat, program, now }: SlurmContext, body: JsonObject): Promise<number> {
  const plan = await client.plan(body);
  for (const warning of plan.warnings ?? []) printError(`${program}: warning: ${warning}`);
  const start = plan.estimated_start ?? (plan.starts_now === true ? new Date(now).toISOString() : undefined);
  if (start === undefined) {
    for (const { text } of plan.causes ?? []) printError(`${program}: ${text}`);
    printError("allocation failure: Requested node configuration is not available");
    return 1;
  }
  const nodes = plan.nodes ?? [];
  const where = nodes.length === 0 ? "" : ` using ${nodes.length} nodes on nodes ${compressHosts(nodes)}`;
  printError(
    `${program}: Job to start at ${localTime(start)}${where} in partition ${compat.partitionOf(plan.vcluster ?? "")}`,
  );
  return 0;
}

/** Returns the submission with its complete dependencies. */
async function resolveSingleton({ client, user }: SlurmContext, body: JsonObject): Promise<JsonObject> {
  const { name, depends_on: edges } = body;
  if (typeof name !== "string" || !Array.isArray(edges) || !edges.some(isSingleton)) return body;
  const others: Json[] = [];
  for await (const job of client.listAll({ user, name, state: LIVE })) {
    if (!isSingletonJob(job, name)) others.push({ ref: job.id, condition: "any" });
  }
  // Without -J the name is the script's, which is known only here.
  const named = edges.map((edge) => (isSingleton(edge) ? { ref: name, condition: "mutex" } : edge));
  return { ...body, depends_on: [...named, ...others] };
}

const isSingleton = (edge: Json): boolean =>
  typeof edge === "object" && edge !== null && "condition" in edge && edge.condition === "mutex";

const isSingletonJob = ({ spec }: Allocation, name: string): boolean =>
  (spec?.depends_on ?? []).some(({ ref, condition }) => condition === "mutex" && ref === name);

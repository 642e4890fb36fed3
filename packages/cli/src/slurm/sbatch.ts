// `sbatch`: submits a script, or a command line by --wrap, and says its id. Flags win over the
// SBATCH_* variables, which win over the directives of the script.

import { randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Allocation } from "@lattice/sdk";
import {
  type JsonObject,
  MAX_SCRIPT_BYTES,
  mergeSubmissions,
  type ParsedScript,
  parseScript,
  slurmOutputFile,
} from "@lattice/wire";
import { AT_REST, hasEnded, untilFinal } from "../wait/until-final.ts";
import { prepareScript } from "./batch-script.ts";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk, print } from "./desk.ts";
import { JOB_RULES, jobOptions } from "./job-options.ts";
import { afterNamesakes } from "./namesakes.ts";
import { saveOutput } from "./output-file.ts";
import { Refusal, refuse } from "./refusal.ts";
import { submitProblem } from "./submit-problems.ts";
import { showTrial } from "./trial.ts";
import { exportedVariables, slurmVariables } from "./variables.ts";
import { type Grammar, has, lastValue, readWords, type Words } from "./words.ts";

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
  run: async (desk, argv) => {
    const words = readBatchWords(argv);
    const { body: own, asked, warnings } = batchSubmission(desk, words, readSource(words));
    if (!has(words, "quiet")) for (const warning of warnings) complain(`sbatch: warning: ${warning}`);
    const partition = asked.get("partition");
    try {
      const body = await afterNamesakes(desk, own);
      if (has(words, "test-only")) return await showTrial(desk, body);
      return await submit(desk, words, body);
    } catch (error) {
      throw await submitProblem(desk, error, partition);
    }
  },
};

export const readBatchWords = (argv: readonly string[]): Words => readWords(GRAMMAR, argv);

export interface Source {
  readonly text: string;
  readonly name: string;
  readonly args: readonly string[];
}

function readSource({ given, operands }: Words): Source {
  const wrap = given.findLast(({ name }) => name === "wrap")?.value;
  const [path, ...args] = operands;
  if (wrap !== undefined && wrap !== null) {
    if (path !== undefined) throw refuse("sbatch", "Script arguments not permitted with --wrap option");
    return { text: `#!/bin/sh\n# Made by sbatch --wrap.\n${wrap}\n`, name: "wrap", args: [] };
  }
  if (path === undefined || path === "-") return { text: readFileSync(0, "utf8"), name: "sbatch", args };
  try {
    if (statSync(path).size > MAX_SCRIPT_BYTES)
      throw refuse("sbatch", `${path} is larger than ${MAX_SCRIPT_BYTES} bytes`);
    return { text: readFileSync(path, "utf8"), name: basename(path), args };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw refuse("sbatch", `Unable to open file ${path}`);
  }
}

export interface BatchSubmission {
  readonly body: JsonObject;
  /** The options that count, by their long names: of the script and of the caller. */
  readonly asked: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** Everything but sending it: what is submitted, and what is warned about. */
export function batchSubmission(desk: Desk, words: Words, { text, name, args }: Source): BatchSubmission {
  const { compat, cwd, env } = desk;
  const over = jobOptions("sbatch", words, env, "SBATCH");
  const parsed: ParsedScript = parseScript(text, compat.mapping, over);
  const asked = new Map(parsed.options.map((option) => [option.name, option.value ?? ""]));
  const { nodes = 1 } = parsed.submission;
  const bin = env.LATTICE_COMPAT_BIN;
  const prepared = prepareScript(text, { args, bin, many: `${nodes}` !== "1", signal: asked.get("signal") });
  const exported = exportedVariables(lastValue(words, "export") ?? asked.get("export"), env);
  const variables = { ...exported.variables, ...slurmVariables(asked, parsed.submission, cwd) };
  const workdir = parsed.submission.workdir;
  const defaults: JsonObject = {
    name,
    workdir: cwd,
    ...(desk.tenant === undefined ? {} : { tenant: desk.tenant }),
    ...(desk.vcluster === undefined ? {} : { vcluster: desk.vcluster }),
  };
  const files = outputFiles(parsed.submission);
  const body = mergeSubmissions(mergeSubmissions(defaults, parsed.submission), {
    ...files,
    script: prepared.text,
    slurm_env: true,
    env: variables,
    ...(typeof workdir === "string" ? { workdir: resolve(cwd, workdir) } : {}),
  });
  const done = ["--export=", ...(prepared.signals ? ["--signal="] : [])];
  const told = parsed.warnings.filter((warning) => !done.some((option) => warning.includes(option)));
  return { body, asked, warnings: [...told, ...prepared.warnings, ...exported.missing.map(unset)] };
}

const unset = (name: string): string => `--export: ${name} is not set`;

/** Nobody asked for it in so many words, so nothing fails for want of it. */
function outputFiles(submission: JsonObject): JsonObject {
  if (submission.output_file !== undefined) return {};
  const { output } = submission;
  return {
    output_file: slurmOutputFile(submission),
    output: { ...(typeof output === "object" && output !== null ? output : {}), if_possible: true },
  };
}

/** Clocks of file servers may be as much behind. */
const CLOCK_LEEWAY_MS = 5_000;

async function submit(desk: Desk, words: Words, body: JsonObject): Promise<number> {
  const { client } = desk;
  const sinceMs = Date.now() - CLOCK_LEEWAY_MS;
  const answer = await client.submit(body, { requestId: randomUUID() });
  for (const warning of answer.warnings ?? []) complain(`sbatch: warning: ${warning}`);
  print(has(words, "parsable") ? answer.id : `Submitted batch job ${answer.id}`);
  if (!has(words, "wait")) return 0;
  const last = await untilFinal(client, answer.id, { orAtRest: true });
  if (!hasEnded(last)) {
    complain(`sbatch: job ${answer.id} is suspended; it goes on after: lattice resume ${answer.id}`);
    return AT_REST;
  }
  const ended = await elementsOf(desk, last);
  const { output_file: output, error_file: error } = body;
  const wanted = { output: fileOf(output), error: fileOf(error), cwd: `${body.workdir}`, sinceMs };
  for (const job of ended) await saveOutput(client, job, wanted);
  return Math.max(0, ...ended.map(exitOf));
}

const fileOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The jobs behind one id: itself, or the elements of an array. */
async function elementsOf({ client }: Desk, job: Allocation): Promise<readonly Allocation[]> {
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

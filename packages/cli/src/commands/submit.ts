// `lattice submit`: submits a script, a command after `--`, or a document; --dry-run shows where and when the scheduler
// would start it. Flags win over a script's directives, directives over the configuration. The request id is generated
// here, so that a retry after a lost response does not submit twice.

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { PlanResponse, SubmitResponse, WatchEvent } from "@lattice/sdk";
import { mergeSubmissions, ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { withSpinner } from "../output/progress.ts";
import { clean } from "../output/text.ts";
import { localTime } from "../output/time.ts";
import { readCompat } from "../settings/compat-file.ts";
import type { CliSettings } from "../settings/settings.ts";
import { EXIT_SUSPENDED, hasEnded, waitUntilEnded } from "../wait/until-ended.ts";
import { dagBody } from "./dag/body.ts";
import { submitDag } from "./dag/submit.ts";
import { reasonOf } from "./status/table.ts";
import { inFlagNames } from "./submit/flag-names.ts";
import { addSubmitFlags, flagsToShortForm, type ShortForm, type SubmitFlags } from "./submit/flags.ts";
import { fromDocument, fromScript, fromWords, type SubmissionSource } from "./submit/source.ts";
import { soonerLines } from "./why/sooner.ts";

/** Exit status after Ctrl-C, as a shell reports it. */
const INTERRUPTED = 130;

interface OwnFlags extends SubmitFlags {
  readonly file?: string;
  readonly requestId?: string;
  readonly wait?: boolean;
  readonly dryRun?: boolean;
  readonly hold?: boolean;
}

export function define(command: Command): void {
  addSubmitFlags(command)
    .usage("[flags] script.sh [args] | [flags] -- command [args] | [flags] --file spec.yaml")
    .argument("[words...]", "script and its arguments, or a command after --")
    .option("--file <file>", "submit a YAML or JSON document (- reads standard input)")
    .option("--request-id <id>", "idempotency key: repeating the submission within 24 hours is safe")
    .option("--hold", "hold it until `lattice release ID`")
    .option("--dry-run", "show where and when it would start; submit nothing")
    .option("--wait", "wait for the end; exit status of the job, or 75 if it is suspended")
    .passThroughOptions()
    .action(async (words: readonly string[], flags: OwnFlags) => {
      const context = await createContext(command);
      refuseTimeAsTenant(context.settings.named.tenant);
      const own = flagsToShortForm(flags, (flag) => command.getOptionValueSource(flag) === "cli");
      const dag = await dagIn(context, words, flags, own);
      if (dag !== null) return submitDag(context, dag, flags);
      const body = await submission(context, words, { flags, own, dashed: isAfterDashes(words) });
      if (flags.dryRun === true)
        return showPlan(context, await withFlagNames(context, flags, () => context.client.plan(body)));
      const answer = await send(context, body, flags);
      await show(context, answer);
      if (flags.wait === true) process.exitCode = await waitForEnd(context, answer.id);
    });
}

const send = (context: Context, body: ShortForm, flags: OwnFlags): Promise<SubmitResponse> =>
  withFlagNames(context, flags, () =>
    context.client.submit(flags.hold === true ? { ...body, hold: true } : body, {
      requestId: flags.requestId ?? randomUUID(),
    }),
  );

async function withFlagNames<T>({ print }: Context, flags: OwnFlags, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    // Documents and programs use the server's field names.
    if (!(error instanceof ProblemError) || flags.file !== undefined || print.structured) throw error;
    throw ProblemError.of(inFlagNames(error.problem));
  }
}

/** Commander cannot tell `submit -- words` from `submit script words`, so the raw arguments decide. */
function isAfterDashes(words: readonly string[]): boolean {
  return words.length > 0 && process.argv[process.argv.length - words.length - 1] === "--";
}

/** Returns null unless the document describes a DAG, which has no flags for a single allocation. */
async function dagIn(
  { settings }: Context,
  words: readonly string[],
  { file, dryRun }: OwnFlags,
  own: ShortForm,
): Promise<object | null> {
  if (file === undefined || file === "-" || words.length > 0 || dryRun === true) return null;
  const document = await fromDocument(file);
  if (!Array.isArray(document.allocations) && !isObject(document.dag)) return null;
  const flags = Object.keys(own);
  if (flags.length === 0) return dagBody(document, { ...settings, cwd: process.cwd() });
  throw new ProblemError("invalid_argument", {
    detail: `${file} describes a DAG, which flags cannot change: ${flags.join(", ")}`,
    hint: "Set the fields of its allocations in the document.",
  });
}

interface SubmissionInput {
  readonly flags: OwnFlags;
  readonly own: ShortForm;
  readonly dashed: boolean;
}

async function submission(
  { settings, print }: Context,
  words: readonly string[],
  input: SubmissionInput,
): Promise<ShortForm> {
  if (input.flags.file !== undefined) {
    if (words.length > 0) throw twoSources();
    return placedDocument(
      mergeDocument(await fromDocument(input.flags.file), withTarget(input.own, settings)),
      process.cwd(),
    );
  }
  const [first, ...rest] = words;
  if (first === undefined) throw nothingToRun();
  const source = input.dashed ? fromWords(words) : fromScript(first, rest, (await readCompat(process.env)).mapping);
  if (!settings.quiet) for (const warning of source.warnings) print.warn(warning);
  return buildSubmission(source, input.own, settings, process.cwd());
}

/** Merges defaults, the script's directives and flags; the later ones win. */
export function buildSubmission(source: SubmissionSource, own: ShortForm, settings: Targets, cwd: string): ShortForm {
  const workdir = typeof own.workdir === "string" ? { workdir: resolve(cwd, own.workdir) } : {};
  const defaults = {
    name: source.defaultName,
    // The current directory does not exist inside a container.
    ...(own.image === undefined && source.form.image === undefined ? { workdir: cwd } : {}),
    ...(settings.uenv === undefined ? {} : { uenv: settings.uenv }),
  };
  const over = { ...withTarget(own, settings), ...workdir };
  return mergeSubmissions(mergeSubmissions(defaults, source.form as never), over as never) as ShortForm;
}

type Targets = Pick<CliSettings, "tenant" | "vcluster" | "uenv">;

const withTarget = (form: ShortForm, { tenant, vcluster }: Targets): ShortForm => ({
  ...form,
  ...(tenant === undefined ? {} : { tenant }),
  ...(vcluster === undefined ? {} : { vcluster }),
});

/** Merges flags into a short-form document. A full-form document takes no flags. */
export function mergeDocument(document: ShortForm, own: ShortForm): ShortForm {
  const inner = document.allocation;
  if (typeof inner !== "object" || inner === null) return mergeSubmissions(document as never, own as never);
  if (Object.keys(own).length === 0) return document;
  throw new ProblemError("invalid_argument", {
    detail: `flags cannot change a full-form document: ${Object.keys(own).join(", ")}`,
    hint: "Set the fields in the document, or write it in short form.",
  });
}

/** Like scripts and commands, work of a document starts in the current directory, which no container has. */
export function placedDocument(document: ShortForm, cwd: string): ShortForm {
  const { allocation } = document;
  if (isObject(allocation)) return { ...document, allocation: placedDocument(allocation, cwd) };
  const { environment, workdir } = document;
  const inside = isObject(environment) ? environment : {};
  if (typeof workdir === "string") return { ...document, workdir: resolve(cwd, workdir) };
  if (document.image !== undefined || inside.image !== undefined || inside.workdir !== undefined) return document;
  return isObject(environment)
    ? { ...document, environment: { ...environment, workdir: cwd } }
    : { ...document, workdir: cwd };
}

const isObject = (value: unknown): value is ShortForm =>
  typeof value === "object" && value !== null && !Array.isArray(value);

async function show({ print, settings }: Context, answer: SubmitResponse): Promise<void> {
  if (!settings.quiet) for (const warning of answer.warnings ?? []) print.warn(warning);
  if (print.structured) return print.document(answer);
  print.done(answer.id, `Submitted allocation ${answer.id}`);
}

/** Returns the job's exit code, or 1 without one. Ctrl-C ends only the wait. */
async function waitForEnd(context: Context, id: string): Promise<number> {
  const { client, print } = context;
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const ended = await withSpinner(context, `Allocation ${id} is pending`, (progress) => {
      const onEvent = ({ kind, to }: WatchEvent): void => {
        if (kind === "allocation_changed" && to !== undefined) progress.update(`Allocation ${id} is ${to}`);
      };
      return waitUntilEnded(client, id, { signal: stop.signal, orSuspended: true, onEvent });
    });
    if (!hasEnded(ended)) {
      print.note(`Allocation ${id} is suspended; to continue it run: lattice resume ${id}`);
      return EXIT_SUSPENDED;
    }
    if (ended.state === "completed") return 0;
    print.note(`Allocation ${id} ${ended.state}: ${reasonOf(ended)}`);
    const code = ended.exit_code ?? 1;
    return code > 0 && code < 256 ? code : 1;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    print.note(`Allocation ${id} continues; to cancel it run: lattice cancel ${id}`);
    return INTERRUPTED;
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

/** In Slurm -t is the time limit. */
function refuseTimeAsTenant(tenant: string | undefined): void {
  if (tenant === undefined || !/^(\d+-)?\d+(:\d+){0,2}[dhms]?$/.test(tenant)) return;
  throw new ProblemError("invalid_argument", {
    detail: `"${tenant}" looks like a time, and -t names the tenant`,
    hint: `The flag of the time limit is --walltime, for example --walltime=${/^\d+$/.test(tenant) ? `${tenant}m` : tenant}`,
  });
}

const nothingToRun = (): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: "no script or command is given",
    hint: "Run: lattice submit script.sh, or: lattice submit -- COMMAND",
  });

const twoSources = (): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: "--file cannot be combined with a script or command",
    hint: "Put the script or command into the document.",
  });

async function showPlan({ print, settings }: Context, planned: PlanResponse): Promise<void> {
  if (!settings.quiet) for (const warning of planned.warnings ?? []) print.warn(warning);
  if (print.structured) return print.document(planned);
  const [answer, ...rest] = planLines(planned);
  print.lines(settings.quiet ? [answer ?? ""] : [answer ?? "", ...rest, "Nothing was submitted."]);
}

function planLines(planned: PlanResponse): string[] {
  const { nodes = [], causes = [], position = 0, queue_length = 0, would_preempt = [], suggestions = [] } = planned;
  const on = nodes.length === 0 ? "" : ` on ${nodes.map(clean).join(", ")}`;
  const lines = [startText(planned) + on];
  for (const { text } of causes) lines.push(`  ${clean(text)}`);
  if (planned.starts_now !== true && position > 0)
    lines.push(`  It would be number ${position} of ${queue_length} in the queue.`);
  for (const { allocation_id, user, nodes: count = 0 } of would_preempt) {
    const whose = !allocation_id ? "another user's allocation" : `${allocation_id}${!user ? "" : ` of ${clean(user)}`}`;
    lines.push(`  It would preempt ${whose} on ${count} nodes.`);
  }
  if (suggestions.length > 0) lines.push("Sooner:", ...soonerLines(suggestions).map((line) => `  ${line}`));
  return lines;
}

function startText({ starts_now, backfilled, estimated_start, start_reserved }: PlanResponse): string {
  if (starts_now === true) return backfilled === true ? "Would start now, by backfill" : "Would start now";
  if (estimated_start !== undefined) {
    return `Would start at about ${localTime(estimated_start)}${start_reserved === true ? " (reserved)" : ""}`;
  }
  return "Would wait; the start time is unknown";
}

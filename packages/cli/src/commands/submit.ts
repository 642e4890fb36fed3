// `lattice submit`: a script, a command after `--`, or a document. Flags win over the directives of
// a script, which win over the configuration. The request id is made here, so that an answer lost
// on the way does not submit twice.

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { SubmitResponse, WatchEvent } from "@lattice/sdk";
import { mergeSubmissions, ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { whileShown } from "../output/progress.ts";
import type { Settings } from "../settings/settings.ts";
import { readCompat } from "../slurm/compat-file.ts";
import { AT_REST, hasEnded, untilFinal } from "../wait/until-final.ts";
import { reasonOf } from "./status/table.ts";
import { showPlan } from "./submit/dry-run.ts";
import { inFlagNames } from "./submit/flag-names.ts";
import { addSubmitFlags, flagsToShortForm, type ShortForm, type SubmitFlags } from "./submit/flags.ts";
import { fromDocument, fromScript, fromWords, type Source } from "./submit/source.ts";

/** As a shell reports a program that Ctrl-C has ended. */
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
    .argument("[words...]", "a script and its arguments, or, after --, a command")
    .option("--file <file>", "submit a YAML or JSON document (- reads standard input)")
    .option("--request-id <id>", "makes repeating this submission safe for 24 hours")
    .option("--hold", "let it wait until `lattice release ID`")
    .option("--dry-run", "say where and when it would start, and submit nothing")
    .option("--wait", "wait for the end; the exit status is that of the job, or 75 when it is left suspended")
    .passThroughOptions()
    .action(async (words: readonly string[], flags: OwnFlags) => {
      const context = await createContext(command);
      const own = flagsToShortForm(flags, (flag) => command.getOptionValueSource(flag) === "cli");
      const body = await submission(context, words, { flags, own, dashed: isAfterDashes(words) });
      if (flags.dryRun === true) return showPlan(context, await asked(context, flags, () => context.client.plan(body)));
      const answer = await send(context, body, flags);
      await show(context, answer);
      if (flags.wait === true) process.exitCode = await waitForEnd(context, answer.id);
    });
}

const send = (context: Context, body: ShortForm, flags: OwnFlags): Promise<SubmitResponse> =>
  asked(context, flags, () =>
    context.client.submit(flags.hold === true ? { ...body, hold: true } : body, {
      requestId: flags.requestId ?? randomUUID(),
    }),
  );

async function asked<T>({ print }: Context, flags: OwnFlags, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    // A document is corrected in its own words, and a program reads the server's.
    if (!(error instanceof ProblemError) || flags.file !== undefined || print.structured) throw error;
    throw ProblemError.of(inFlagNames(error.problem));
  }
}

/** `submit -- words` and `submit script words` look alike to the parser; the line itself tells. */
function isAfterDashes(words: readonly string[]): boolean {
  return words.length > 0 && process.argv[process.argv.length - words.length - 1] === "--";
}

interface Asked {
  readonly flags: OwnFlags;
  readonly own: ShortForm;
  readonly dashed: boolean;
}

async function submission({ settings, print }: Context, words: readonly string[], asked: Asked): Promise<ShortForm> {
  if (asked.flags.file !== undefined) {
    if (words.length > 0) throw twoSources();
    return mergeDocument(await fromDocument(asked.flags.file), withTarget(asked.own, settings));
  }
  const [first, ...rest] = words;
  if (first === undefined) throw nothingToRun();
  const source = asked.dashed ? fromWords(words) : fromScript(first, rest, (await readCompat(process.env)).mapping);
  if (!settings.quiet) for (const warning of source.warnings) print.warn(warning);
  return buildSubmission(source, asked.own, settings, process.cwd());
}

/** Defaults, then the script's directives, then flags. */
export function buildSubmission(source: Source, own: ShortForm, settings: Targets, cwd: string): ShortForm {
  const workdir = typeof own.workdir === "string" ? { workdir: resolve(cwd, own.workdir) } : {};
  const defaults = {
    name: source.defaultName,
    // A container has folders of its own.
    ...(own.image === undefined && source.form.image === undefined ? { workdir: cwd } : {}),
    ...(settings.uenv === undefined ? {} : { uenv: settings.uenv }),
  };
  const over = { ...withTarget(own, settings), ...workdir };
  return mergeSubmissions(mergeSubmissions(defaults, source.form as never), over as never) as ShortForm;
}

type Targets = Pick<Settings, "tenant" | "vcluster" | "uenv">;

const withTarget = (form: ShortForm, { tenant, vcluster }: Targets): ShortForm => ({
  ...form,
  ...(tenant === undefined ? {} : { tenant }),
  ...(vcluster === undefined ? {} : { vcluster }),
});

/** A full-form document keeps its shape; flags go inside it. */
export function mergeDocument(document: ShortForm, own: ShortForm): ShortForm {
  const inner = document.allocation;
  if (typeof inner !== "object" || inner === null) return mergeSubmissions(document as never, own as never);
  if (Object.keys(own).length === 0) return document;
  throw new ProblemError("invalid_argument", {
    detail: `flags cannot change a document in full form: ${Object.keys(own).join(", ")}`,
    hint: "Change the document, or write it in the short form.",
  });
}

async function show({ print, settings }: Context, answer: SubmitResponse): Promise<void> {
  if (!settings.quiet) for (const warning of answer.warnings ?? []) print.warn(warning);
  if (print.structured) return print.document(answer);
  print.done(answer.id, `Submitted allocation ${answer.id}`);
}

/** As a shell would see the job: its exit code, or 1 for an end without one. Ctrl-C ends the wait alone. */
async function waitForEnd(context: Context, id: string): Promise<number> {
  const { client, print } = context;
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const ended = await whileShown(context, `Allocation ${id} is pending`, (progress) => {
      const onEvent = ({ kind, to }: WatchEvent): void => {
        if (kind === "allocation_changed" && to !== undefined) progress.update(`Allocation ${id} is ${to}`);
      };
      return untilFinal(client, id, { signal: stop.signal, orAtRest: true, onEvent });
    });
    if (!hasEnded(ended)) {
      print.note(`Allocation ${id} is suspended and goes on when it is resumed: lattice resume ${id}`);
      return AT_REST;
    }
    if (ended.state === "completed") return 0;
    print.note(`Allocation ${id} ${ended.state}: ${reasonOf(ended)}`);
    const code = ended.exit_code ?? 1;
    return code > 0 && code < 256 ? code : 1;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    print.note(`allocation ${id} goes on; cancel it with: lattice cancel ${id}`);
    return INTERRUPTED;
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

const nothingToRun = (): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: "nothing to run is named",
    hint: "Run: lattice submit script.sh, or: lattice submit -- COMMAND",
  });

const twoSources = (): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: "--file and a script or command exclude each other",
    hint: "Put what is to be run into the document.",
  });

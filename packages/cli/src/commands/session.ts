// `lattice session`: asks for nodes, waits in the queue and says why, opens a terminal on the first of
// them, and gives them back when the shell ends. A connection that is lost ends nothing: the
// allocation goes on, and `lattice attach` finds it.

import { randomUUID } from "node:crypto";
import type { Session } from "@lattice/sdk";
import { sleep } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { askOnTerminal } from "../output/ask-first.ts";
import { startSpinner } from "../output/spinner.ts";
import { clean } from "../output/text.ts";
import { currentSize, runTerminal } from "../terminal/run-terminal.ts";
import { CUT_OFF } from "./attach.ts";
import { listSessions } from "./session/list.ts";
import { inFlagNames } from "./submit/flag-names.ts";
import { addSessionFlags, flagsToShortForm, type SubmitFlags } from "./submit/flags.ts";

/** As a shell reports a program that such a signal has ended. */
const GIVEN_UP = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type GivingUp = keyof typeof GIVEN_UP;
const SIGNALS = Object.keys(GIVEN_UP) as readonly GivingUp[];

export function define(command: Command): void {
  addSessionFlags(command)
    .usage("--walltime=TIME [flags] | list | end ID")
    .action(async (flags: SubmitFlags) => {
      const own = flagsToShortForm(flags, (flag) => command.getOptionValueSource(flag) === "cli");
      process.exitCode = await runSession(await createContext(command), own);
    });
  const list = command.command("list").description("Show open sessions");
  list.action(async () => listSessions(await createContext(list)));
  const end = command.command("end").description("End a session, and the allocation that was made for it");
  end.argument("<id>", "session").option("--yes", "do not ask");
  end.action(async (id: string, flags: { readonly yes?: boolean }) => {
    const { client, print } = await createContext(end);
    await askOnTerminal(flags.yes, `End session ${id}? What runs in it is ended.`, `session ${id} not ended`);
    const answer = await client.sessions.end(id);
    if (print.structured) return print.document({ session_id: id, ...answer });
    print.done(id, `Ended session ${id}`);
  });
}

async function runSession({ client, print, settings }: Context, own: object): Promise<number> {
  const { tenant, vcluster } = settings;
  const target = { ...(tenant === undefined ? {} : { tenant }), ...(vcluster === undefined ? {} : { vcluster }) };
  const body = { workdir: process.cwd(), ...own, ...target };
  const { session, id, signal } = await queued({ client, print, settings }, body);
  if (session === null) {
    await client.sessions.end(id);
    print.note(`session ${id} is given up`);
    return GIVEN_UP[signal ?? "SIGINT"];
  }
  if (session.state !== "running") {
    print.note(
      clean(
        `session ${session.id} ended before it began: ${session.state} ${session.reason ?? ""} ${session.message ?? ""}`,
      ),
    );
    return 1;
  }
  print.note(`session ${session.id} on ${(session.nodes ?? []).join(", ")}`);
  return inTerminal({ client, print }, session);
}

async function inTerminal({ client, print }: Pick<Context, "client" | "print">, session: Session): Promise<number> {
  const { allocation_id: id } = session;
  const terminal = await client.attach(id, { size: currentSize(), term: process.env.TERM });
  const { code, reason } = await runTerminal(terminal);
  if (code >= 0) {
    await client.sessions.end(session.id, { exitCode: code });
    return code;
  }
  const now = await client.sessions.get(session.id);
  const goesOn = now.state === "running" ? `; it goes on: lattice attach ${id}` : `; it is ${now.state}`;
  print.note(clean(`${reason}${goesOn}`));
  return now.state === "completed" ? 0 : CUT_OFF;
}

interface Queued {
  readonly id: string;
  /** Null: it was given up. */
  readonly session: Session | null;
  readonly signal: GivingUp | null;
}

/** Asks for it and waits. Whatever would end this program meanwhile takes it out of the queue first. */
async function queued({ client, print, settings }: Context, body: object): Promise<Queued> {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => stop.abort(name);
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    const created = await client.sessions.create({ ...body }, { requestId: randomUUID() }).catch((error: unknown) => {
      throw error instanceof ProblemError ? ProblemError.of(inFlagNames(error.problem)) : error;
    });
    if (!settings.quiet) for (const warning of created.warnings ?? []) print.warn(warning);
    const session = await untilRunning({ client, settings }, created.session_id, stop.signal);
    return { id: created.session_id, session, signal: session === null ? (stop.signal.reason as GivingUp) : null };
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}

const FIRST_LOOK_MS = 40;
const LONGEST_PAUSE_MS = 1_000;
const WAITS = new Set<string>(["pending", "staging", "suspended"]);

/** Shows what it waits for. Null: it is to be given up. */
async function untilRunning(
  { client, settings }: Pick<Context, "client" | "settings">,
  id: string,
  stop: AbortSignal,
): Promise<Session | null> {
  const spinner = settings.quiet ? null : startSpinner(`session ${id} is queued`);
  try {
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
      const session = await client.sessions.get(id);
      if (stop.aborted) return null;
      if (!WAITS.has(session.state)) return session;
      const why = session.pending_reasons ?? [];
      spinner?.update(clean(`session ${id} is ${session.state}${why.length === 0 ? "" : `: ${why.join("; ")}`}`));
      await sleep(pause, stop);
    }
  } catch (error) {
    if (stop.aborted) return null;
    throw error;
  } finally {
    spinner?.stop();
  }
}

// `lattice session`: requests nodes, waits in the queue and shows why, opens a terminal on the first node, and releases
// the nodes when the shell ends. A lost connection ends nothing: the allocation continues, and `lattice attach`
// reconnects.

import { randomUUID } from "node:crypto";
import { type Session, sleep } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { confirmOnTerminal } from "../output/confirm.ts";
import { startSpinner } from "../output/spinner.ts";
import type { Column } from "../output/table.ts";
import { ABSENT, capitalise, clean } from "../output/text.ts";
import { currentSize, runTerminal } from "../terminal/run-terminal.ts";
import { EXIT_DISCONNECTED } from "./attach.ts";
import { inFlagNames } from "./submit/flag-names.ts";
import { addSessionFlags, flagsToShortForm, type SubmitFlags } from "./submit/flags.ts";

/** Exit status by signal, as a shell reports it. */
const ABANDONED = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type AbandonSignal = keyof typeof ABANDONED;
const SIGNALS = Object.keys(ABANDONED) as readonly AbandonSignal[];

export function define(command: Command): void {
  addSessionFlags(command)
    .usage("--walltime=TIME [flags] | list | end ID")
    .action(async (flags: SubmitFlags) => {
      const own = flagsToShortForm(flags, (flag) => command.getOptionValueSource(flag) === "cli");
      process.exitCode = await runSession(await createContext(command), own);
    });
  const list = command.command("list").description("List open sessions");
  list.action(async () => listSessions(await createContext(list)));
  const end = command.command("end").description("End a session and its allocation");
  end.argument("<id>", "session").option("--yes", "do not ask for confirmation");
  end.action(async (id: string, flags: { readonly yes?: boolean }) => {
    const { client, print } = await createContext(end);
    await confirmOnTerminal(flags.yes, `End session ${id}? Its processes are ended.`, `session ${id} not ended`);
    const answer = await client.sessions.end(id);
    if (print.structured) return print.document({ session_id: id, ...answer });
    print.done(id, `Ended session ${id}`);
  });
}

async function runSession({ client, print, settings }: Context, own: object): Promise<number> {
  const { tenant, vcluster } = settings;
  const target = { ...(tenant === undefined ? {} : { tenant }), ...(vcluster === undefined ? {} : { vcluster }) };
  const body = { workdir: process.cwd(), ...own, ...target };
  const { session, id, signal } = await waitInQueue({ client, print, settings }, body);
  if (session === null) {
    await client.sessions.end(id);
    print.note(`Cancelled session ${id}`);
    return ABANDONED[signal ?? "SIGINT"];
  }
  if (session.state !== "running") {
    print.note(
      clean(
        `session ${session.id} ended before it started: ${session.state} ${session.reason ?? ""} ${session.message ?? ""}`,
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
    await client.sessions.end(session.id, { exit_code: code });
    return code;
  }
  const now = await client.sessions.get(session.id);
  const next =
    now.state === "running"
      ? `; the session continues, reconnect with: lattice attach ${id}`
      : `; the session is ${now.state}`;
  print.note(clean(`${reason}${next}`));
  return now.state === "completed" ? 0 : EXIT_DISCONNECTED;
}

interface QueueResult {
  readonly id: string;
  /** `null` when a signal ended the wait. */
  readonly session: Session | null;
  readonly signal: AbandonSignal | null;
}

/** Requests the session and waits. A signal meanwhile removes it from the queue before the program ends. */
async function waitInQueue({ client, print, settings }: Context, body: object): Promise<QueueResult> {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => stop.abort(name);
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    const created = await client.sessions.create({ ...body }, { requestId: randomUUID() }).catch((error: unknown) => {
      throw error instanceof ProblemError ? ProblemError.of(inFlagNames(error.problem)) : error;
    });
    if (!settings.quiet) for (const warning of created.warnings ?? []) print.warn(warning);
    const session = await untilRunning({ client, settings }, created.session_id, stop.signal);
    return { id: created.session_id, session, signal: session === null ? (stop.signal.reason as AbandonSignal) : null };
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}

const FIRST_POLL_MS = 40;
const MAX_POLL_MS = 1_000;
const PENDING_STATES = new Set<string>(["pending", "staging", "suspended"]);

/** Shows the pending reasons. Returns null when `stop` is aborted. */
async function untilRunning(
  { client, settings }: Pick<Context, "client" | "settings">,
  id: string,
  stop: AbortSignal,
): Promise<Session | null> {
  const spinner = settings.quiet ? null : startSpinner(`session ${id} is queued`);
  try {
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
      const session = await client.sessions.get(id);
      if (stop.aborted) return null;
      if (!PENDING_STATES.has(session.state)) return session;
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

const SESSION_COLUMNS: readonly Column<Session>[] = [
  { header: "ID", value: (session) => session.id },
  { header: "ALLOCATION", value: (session) => session.allocation_id },
  { header: "USER", value: (session) => session.user },
  { header: "STATE", value: (session) => capitalise(session.state) },
  { header: "NODES", value: (session) => (session.nodes ?? []).join(",") || ABSENT },
];

async function listSessions({ client, print, settings }: Context): Promise<void> {
  const sessions: Session[] = [];
  for (let token = ""; ; ) {
    const page = await client.sessions.list(token === "" ? {} : { page_token: token });
    sessions.push(...(page.sessions ?? []));
    token = page.next_page_token ?? "";
    if (token === "") break;
  }
  if (print.structured) return print.document({ sessions });
  if (settings.quiet) return print.lines(sessions.map(({ id }) => id));
  print.table(SESSION_COLUMNS, sessions);
}

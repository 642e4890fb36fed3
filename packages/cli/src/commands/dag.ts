// `lattice dag`: workflows of several allocations, submitted, shown and cancelled together.

import type { DagState } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { findDag } from "../names/work-ids.ts";
import { confirmOnTerminal } from "../output/confirm.ts";
import { emptyListText } from "../output/empty-list.ts";
import { forEachId } from "../output/for-each-id.ts";
import { parseCount } from "../parse/count.ts";
import { DAG_STATES, parseStates } from "../parse/states.ts";
import { dagBody } from "./dag/body.ts";
import { drawGraph } from "./dag/graph.ts";
import { showDag } from "./dag/show.ts";
import { submitDag } from "./dag/submit.ts";
import { dagColumns } from "./dag/table.ts";
import { fromDocument } from "./submit/source.ts";

const DEFAULT_LIMIT = 50;
const DAG_HINT = "Run: lattice dag submit workflow.yaml, or: lattice dag submit - to read standard input";

export function define(command: Command): void {
  defineSubmit(command.command("submit").description("Submit a workflow from a YAML or JSON document"));
  defineStatus(command.command("status").description("Show a DAG and its members"));
  defineList(command.command("list").description("Show DAGs, newest first"));
  defineCancel(command.command("cancel").description("Cancel every member that has not ended"));
}

function defineSubmit(command: Command): void {
  command
    .argument("<file>", "workflow document (- reads standard input)")
    .option("--name <name>", "name of the DAG (default: from the document)")
    .option("--request-id <id>", "idempotency key: repeating the submission within 24 hours is safe")
    .option("--wait", "wait for the end; exit status 0 if the DAG completed, 75 if a suspended member must be resumed")
    .action(async (file: string, flags: { name?: string; requestId?: string; wait?: boolean }) => {
      const context = await createContext(command);
      const { settings } = context;
      const body = dagBody(await fromDocument(file, DAG_HINT), { ...settings, name: flags.name, cwd: process.cwd() });
      await submitDag(context, body, flags);
    });
}

function defineStatus(command: Command): void {
  command
    .argument("<id>", "DAG: an id such as dag-789, a name, or last")
    .option("--graph", "draw the dependency graph")
    .action(async (word: string, flags: { graph?: boolean }) => {
      const context = await createContext(command);
      const { client, print } = context;
      const id = await findDag(context, word);
      if (print.structured && flags.graph === true) return print.document(await client.dags.graph(id));
      const dag = await client.dags.get(id);
      if (flags.graph !== true) return showDag(context, dag);
      print.lines(drawGraph(dag.members ?? [], print.paint, process.stdout.columns ?? 120));
    });
}

interface ListFlags {
  readonly state?: readonly DagState[];
  readonly all?: boolean;
  readonly user?: string;
  readonly limit: number;
}

function defineList(command: Command): void {
  command
    .option("--state <states>", `only these states (${DAG_STATES.join(", ")})`, (text) => parseStates(text, DAG_STATES))
    .option("--all", "DAGs of all users visible to you")
    .option("--user <name>", "DAGs of this user")
    .option("--limit <count>", "maximum number of DAGs", (text) => parseCount(text, 1, 1_000), DEFAULT_LIMIT)
    .action(async (flags: ListFlags) => {
      const { client, print, settings } = await createContext(command);
      const user = flags.all === true ? undefined : (flags.user ?? settings.user);
      const page = await client.dags.list({
        page_size: flags.limit,
        ...(user === undefined ? {} : { user }),
        ...(settings.named.tenant === undefined ? {} : { tenant: settings.named.tenant }),
        ...(flags.state === undefined ? {} : { state: flags.state }),
      });
      const dags = page.dags ?? [];
      if (print.structured) return print.document({ ...page, dags });
      if (settings.quiet) return print.lines(dags.map(({ id }) => id));
      print.table(dagColumns(print.paint), dags);
      if (dags.length === 0)
        print.note(emptyListText("DAGs", { ...(user === undefined ? {} : { user }), self: settings.user }));
    });
}

function defineCancel(command: Command): void {
  command
    .argument("<id...>", "DAGs to cancel: ids, names or last")
    .option("--reason <text>", "reason, recorded with the allocations")
    .option("--yes", "do not ask for confirmation")
    .action(async (words: readonly string[], flags: { reason?: string; yes?: boolean }) => {
      const context = await createContext(command);
      const { client, print } = context;
      const ids = await Promise.all(words.map((word) => findDag(context, word)));
      const what = ids.length === 1 ? `DAG ${ids[0]}` : `${ids.length} DAGs`;
      await confirmOnTerminal(
        flags.yes,
        `Cancel ${what} and all members that have not ended?`,
        `${what} not cancelled`,
      );
      const { done: cancelled, finish } = await forEachId(ids, async (id) => {
        const answer = await client.dags.cancel(id, { reason: flags.reason });
        if (!print.structured) print.done(id, `Cancelled DAG ${id}`);
        return answer;
      });
      if (print.structured) await print.document({ cancelled });
      finish();
    });
}

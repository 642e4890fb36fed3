// `lattice dag`: workflows of several allocations, submitted, shown and cancelled as one.

import { randomUUID } from "node:crypto";
import type { Dag, DagState } from "@lattice/sdk";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { askOnTerminal } from "../output/ask-first.ts";
import { noneText } from "../output/none.ts";
import { whileShown } from "../output/progress.ts";
import { clean } from "../output/text.ts";
import { parseCount } from "../parse/count.ts";
import { DAG_STATES, parseStates } from "../parse/states.ts";
import { AT_REST } from "../wait/until-final.ts";
import { dagBody } from "./dag/body.ts";
import { drawGraph } from "./dag/graph.ts";
import { dagColumns, memberColumns } from "./dag/table.ts";
import { restingMembers, standing, untilDagEnds } from "./dag/wait.ts";
import { forEachId } from "./for-each-id.ts";
import { fromDocument } from "./submit/source.ts";

const DEFAULT_LIMIT = 50;
const DAG_HINT = "Name a document that is there: lattice dag submit workflow.yaml, or - for standard input.";

export function define(command: Command): void {
  defineSubmit(command.command("submit").description("Submit a workflow from a YAML or JSON document"));
  defineStatus(command.command("status").description("Show how the members of a DAG stand"));
  defineList(command.command("list").description("Show DAGs, newest first"));
  defineCancel(command.command("cancel").description("Cancel every member that has not ended"));
}

function defineSubmit(command: Command): void {
  command
    .argument("<file>", "the workflow (- reads standard input)")
    .option("--name <name>", "name to show instead of the document's")
    .option("--request-id <id>", "makes repeating this submission safe for 24 hours")
    .option(
      "--wait",
      "wait for the end; the exit status is 0 when the DAG completed, 75 when it waits for something to be resumed",
    )
    .action(async (file: string, flags: { name?: string; requestId?: string; wait?: boolean }) => {
      const context = await createContext(command);
      const { client, print, settings } = context;
      const body = dagBody(await fromDocument(file, DAG_HINT), { ...settings, name: flags.name, cwd: process.cwd() });
      const answer = await client.dags.submit(body, { requestId: flags.requestId ?? randomUUID() });
      if (!settings.quiet) for (const warning of answer.warnings ?? []) print.warn(warning);
      const count = answer.members?.length ?? 0;
      if (print.structured) await print.document(answer);
      else print.done(answer.id, `Submitted DAG ${answer.id} with ${count} allocations`);
      if (flags.wait !== true) return;
      const ended = await whileShown(context, `DAG ${answer.id} is running`, (progress) =>
        untilDagEnds(client, answer.id, (dag) => progress.update(clean(`DAG ${dag.id}: ${standing(dag)}`))),
      );
      if (ended.state === "completed") return;
      const resting = restingMembers(ended);
      if (ended.state === "running") {
        const ids = resting.map(({ allocation_id: id }) => id).join(" ");
        const names = resting.map(({ name }) => name).join(", ");
        print.note(`DAG ${ended.id} waits for what is suspended (${names}); it goes on after: lattice resume ${ids}`);
        process.exitCode = AT_REST;
        return;
      }
      print.note(`DAG ${ended.id} ${ended.state}`);
      process.exitCode = 1;
    });
}

function defineStatus(command: Command): void {
  command
    .argument("<id>", "the DAG, such as dag-789")
    .option("--graph", "draw who waits for whom")
    .action(async (id: string, flags: { graph?: boolean }) => {
      const context = await createContext(command);
      const { client, print } = context;
      if (print.structured)
        return print.document(await (flags.graph === true ? client.dags.graph(id) : client.dags.get(id)));
      const dag = await client.dags.get(id);
      if (flags.graph === true) print.lines(drawGraph(dag.members ?? [], print.paint, process.stdout.columns ?? 120));
      else showDag(context, dag);
    });
}

function showDag({ print, settings }: Context, dag: Dag): void {
  if (settings.quiet) {
    print.line(dag.id);
    return;
  }
  print.table(dagColumns(print.paint), [dag]);
  print.line("");
  print.table(memberColumns(print.paint), dag.members ?? []);
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
    .option("--all", "DAGs of all users that you may see")
    .option("--user <name>", "DAGs of this user")
    .option("--limit <count>", "how many to show", (text) => parseCount(text, 1, 1_000), DEFAULT_LIMIT)
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
        print.note(noneText("DAGs", { ...(user === undefined ? {} : { user }), self: settings.user }));
    });
}

function defineCancel(command: Command): void {
  command
    .argument("<id...>", "DAGs to cancel")
    .option("--reason <text>", "why, kept with the allocations")
    .option("--yes", "do not ask")
    .action(async (ids: readonly string[], flags: { reason?: string; yes?: boolean }) => {
      const { client, print } = await createContext(command);
      const what = ids.length === 1 ? `DAG ${ids[0]}` : `${ids.length} DAGs`;
      await askOnTerminal(flags.yes, `Cancel ${what}, with all members that have not ended?`, `${what} not cancelled`);
      const { done: cancelled, finish } = await forEachId(ids, async (id) => {
        const answer = await client.dags.cancel(id, { reason: flags.reason });
        if (!print.structured) print.done(id, `Cancelled DAG ${id}`);
        return answer;
      });
      if (print.structured) await print.document({ cancelled });
      finish();
    });
}

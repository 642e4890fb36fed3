// `lattice dag`: workflows of several allocations, submitted, shown and cancelled together.

import { randomUUID } from "node:crypto";
import type { Dag, DagState } from "@lattice/sdk";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { confirmOnTerminal } from "../output/confirm.ts";
import { emptyListText } from "../output/empty-list.ts";
import { forEachId } from "../output/for-each-id.ts";
import { withSpinner } from "../output/progress.ts";
import { clean } from "../output/text.ts";
import { parseCount } from "../parse/count.ts";
import { DAG_STATES, parseStates } from "../parse/states.ts";
import { EXIT_SUSPENDED } from "../wait/until-ended.ts";
import { dagBody } from "./dag/body.ts";
import { drawGraph } from "./dag/graph.ts";
import { dagColumns, memberColumns } from "./dag/table.ts";
import { membersToResume, progressText, waitForDag } from "./dag/wait.ts";
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
      const { client, print, settings } = context;
      const body = dagBody(await fromDocument(file, DAG_HINT), { ...settings, name: flags.name, cwd: process.cwd() });
      const answer = await client.dags.submit(body, { requestId: flags.requestId ?? randomUUID() });
      if (!settings.quiet) for (const warning of answer.warnings ?? []) print.warn(warning);
      const count = answer.members?.length ?? 0;
      if (print.structured) await print.document(answer);
      else print.done(answer.id, `Submitted DAG ${answer.id} with ${count} allocations`);
      if (flags.wait !== true) return;
      const ended = await withSpinner(context, `DAG ${answer.id} is running`, (progress) =>
        waitForDag(client, answer.id, (dag) => progress.update(clean(`DAG ${dag.id}: ${progressText(dag)}`))),
      );
      if (ended.state === "completed") return;
      const suspended = membersToResume(ended);
      if (ended.state === "running") {
        const ids = suspended.map(({ allocation_id: id }) => id).join(" ");
        const names = suspended.map(({ name }) => name).join(", ");
        print.note(`DAG ${ended.id} waits for suspended members (${names}); to continue run: lattice resume ${ids}`);
        process.exitCode = EXIT_SUSPENDED;
        return;
      }
      print.note(`DAG ${ended.id} ${ended.state}`);
      process.exitCode = 1;
    });
}

function defineStatus(command: Command): void {
  command
    .argument("<id>", "DAG id, such as dag-789")
    .option("--graph", "draw the dependency graph")
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
    .argument("<id...>", "DAGs to cancel")
    .option("--reason <text>", "reason, recorded with the allocations")
    .option("--yes", "do not ask for confirmation")
    .action(async (ids: readonly string[], flags: { reason?: string; yes?: boolean }) => {
      const { client, print } = await createContext(command);
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

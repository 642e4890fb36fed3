// Submits a DAG and, on request, waits for its end.

import { randomUUID } from "node:crypto";
import type { Context } from "../../context.ts";
import { withSpinner } from "../../output/progress.ts";
import { clean } from "../../output/text.ts";
import { EXIT_SUSPENDED } from "../../wait/until-ended.ts";
import { membersToResume, progressText, waitForDag } from "./wait.ts";

interface DagSubmission {
  readonly requestId?: string;
  readonly wait?: boolean;
}

export async function submitDag(context: Context, body: object, options: DagSubmission): Promise<void> {
  const { client, print, settings } = context;
  const answer = await client.dags.submit({ ...body }, { requestId: options.requestId ?? randomUUID() });
  if (!settings.quiet) for (const warning of answer.warnings ?? []) print.warn(warning);
  const count = answer.members?.length ?? 0;
  if (print.structured) await print.document(answer);
  else print.done(answer.id, `Submitted DAG ${answer.id} with ${count} ${count === 1 ? "allocation" : "allocations"}`);
  if (options.wait === true) await waitForEnd(context, answer.id);
}

async function waitForEnd(context: Context, id: string): Promise<void> {
  const { client, print } = context;
  const ended = await withSpinner(context, `DAG ${id} is running`, (progress) =>
    waitForDag(client, id, (dag) => progress.update(clean(`DAG ${dag.id}: ${progressText(dag)}`))),
  );
  if (ended.state === "completed") return;
  const suspended = membersToResume(ended);
  if (ended.state === "running") {
    const ids = suspended.map(({ allocation_id }) => allocation_id).join(" ");
    const names = suspended.map(({ name }) => name).join(", ");
    print.note(`DAG ${ended.id} waits for suspended members (${names}); to continue run: lattice resume ${ids}`);
    process.exitCode = EXIT_SUSPENDED;
    return;
  }
  print.note(`DAG ${ended.id} ${ended.state}`);
  process.exitCode = 1;
}

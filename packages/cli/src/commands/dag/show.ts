// Shows a DAG and its members.

import type { Dag } from "@lattice/sdk";
import type { Context } from "../../context.ts";
import { dagColumns, memberColumns } from "./table.ts";

export async function showDag({ print, settings }: Context, dag: Dag): Promise<void> {
  if (print.structured) return print.document(dag);
  if (settings.quiet) return print.line(dag.id);
  print.table(dagColumns(print.paint), [dag]);
  print.line("");
  print.table(memberColumns(print.paint), dag.members ?? []);
}

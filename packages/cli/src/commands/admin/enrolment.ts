// `lattice admin enrolment`: tokens with which new nodes obtain their first certificates.

import { randomUUID } from "node:crypto";
import type { Enrolment } from "@lattice/sdk";
import { ProblemError, parseWalltime } from "@lattice/wire";
import type { Command } from "commander";
import { createContext } from "../../context.ts";
import type { Column } from "../../output/table.ts";
import { localTime } from "../../output/time.ts";

interface CreateFlags {
  readonly nodes: number;
  readonly valid?: number;
  readonly network: readonly string[];
}

export function defineEnrolment(command: Command): void {
  const make = command.command("create").description("Create a token for new nodes; it is shown once");
  make
    .requiredOption("--nodes <n>", "number of nodes that may use the token", parseNodes)
    .option("--valid <time>", "validity, such as 8h or 7d (default: 1d)", (text) => parseWalltime(text, "--valid"))
    .option(
      "--network <cidr>",
      "network of the nodes, such as 10.1.0.0/16 (repeatable; default: all)",
      (one: string, all: string[]) => [...all, one],
      [],
    )
    .action(async ({ nodes, valid, network }: CreateFlags) => {
      const { client, print } = await createContext(make);
      const answer = await client.enrolments.create(nodes, {
        networks: [...network],
        ...(valid === undefined ? {} : { valid_seconds: valid }),
      });
      if (print.structured) return print.document(answer);
      // Standard output is the token alone, for a file.
      print.line(answer.token);
      const { enrolment_id, max_nodes, valid_until } = answer.enrolment ?? {};
      const terms = `for ${max_nodes} nodes until ${localTime(valid_until)}`;
      print.note(`Created the enrolment ${enrolment_id} ${terms}; its token is not shown again.`);
    });

  const list = command.command("list").alias("ls").description("List enrolments");
  list.action(async () => {
    const { client, print, settings } = await createContext(list);
    const { enrolments = [] } = await client.enrolments.list();
    if (print.structured) return print.document({ enrolments });
    if (settings.quiet) return print.lines(enrolments.map(({ enrolment_id }) => enrolment_id));
    print.table(columns, enrolments);
  });

  const remove = command.command("remove").alias("rm").description("Revoke the token of an enrolment");
  remove.argument("<id>", "id of the enrolment").action(async (id: string) => {
    const { client, print } = await createContext(remove);
    const { enrolment } = await client.enrolments.remove(id, { requestId: randomUUID() });
    if (print.structured) return print.document(enrolment);
    print.done(id, `Removed the enrolment ${id}; certificates of its nodes stay valid`);
  });
}

function parseNodes(text: string): number {
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  const detail = "must be a number of nodes, at least 1";
  throw new ProblemError("invalid_argument", {
    detail: `--nodes ${detail}`,
    fields: [{ field: "--nodes", detail, hint: "" }],
  });
}

const columns: readonly Column<Enrolment>[] = [
  { header: "ID", value: ({ enrolment_id }) => enrolment_id },
  { header: "STATE", value: ({ state }) => state.replace("_", " ") },
  { header: "NODES", value: ({ nodes, max_nodes }) => `${nodes?.length ?? 0}/${max_nodes}` },
  { header: "UNTIL", value: ({ valid_until }) => localTime(valid_until) },
  { header: "NETWORKS", value: ({ networks }) => (networks ?? []).join(" ") || "all" },
  { header: "BY", value: ({ created_by }) => created_by ?? "", flexible: true },
];

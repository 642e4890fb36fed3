// `lattice session list`: open sessions, one per line.

import type { Session } from "@lattice/sdk";
import type { Context } from "../../context.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT, capitalise } from "../../output/text.ts";

const COLUMNS: readonly Column<Session>[] = [
  { header: "ID", value: (session) => session.id },
  { header: "ALLOCATION", value: (session) => session.allocation_id },
  { header: "USER", value: (session) => session.user },
  { header: "STATE", value: (session) => capitalise(session.state) },
  { header: "NODES", value: (session) => (session.nodes ?? []).join(",") || ABSENT },
];

export async function listSessions({ client, print, settings }: Context): Promise<void> {
  const sessions: Session[] = [];
  for (let token = ""; ; ) {
    const page = await client.sessions.list(token === "" ? {} : { page_token: token });
    sessions.push(...(page.sessions ?? []));
    token = page.next_page_token ?? "";
    if (token === "") break;
  }
  if (print.structured) return print.document({ sessions });
  if (settings.quiet) return print.lines(sessions.map(({ id }) => id));
  print.table(COLUMNS, sessions);
}

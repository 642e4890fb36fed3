// `lattice notices`: conditions that need the caller's attention: an exhausted budget, an allocation that no node could
// be prepared for, a service that cannot scale.

import type { Notice } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { clean } from "../output/text.ts";
import { localTime } from "../output/time.ts";
import { parseCount } from "../parse/count.ts";

interface NoticeFlags {
  readonly all?: boolean;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

export function define(command: Command): void {
  command
    .option("--all", "include cleared notices")
    .option("--limit <count>", "maximum number of notices", (text) => parseCount(text, 1, 1_000), DEFAULT_LIMIT)
    .action(async (flags: NoticeFlags) => {
      const { client, print } = await createContext(command);
      const { notices = [] } = await client.events.notices({
        limit: flags.limit,
        ...(flags.all === true ? { all: true } : {}),
      });
      if (print.structured) return print.document({ notices });
      if (notices.length === 0) return print.note("No notices.");
      for (const notice of notices) print.line(lineOf(notice));
    });
}

function lineOf({ at, kind, text, cleared_at }: Notice): string {
  const cleared = cleared_at === undefined ? "" : `  (cleared ${localTime(cleared_at)})`;
  return `${localTime(at)}  ${kind.replaceAll("_", " ")}: ${clean(text)}${cleared}`;
}

// What has been decided about an allocation, oldest first.

import type { Timeline } from "@lattice/sdk";
import type { Printer } from "../../output/printer.ts";
import { clean } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";

export function showTimeline(print: Printer, { entries = [], left_out = 0 }: Timeline): void {
  print.line("");
  print.line(print.paint("bold", "Timeline"));
  if (left_out > 0) print.line(`  ${left_out} earlier moments are no longer kept.`);
  for (const { at, text, attempt = 0, nodes = [] } of entries) {
    const which = attempt > 1 ? ` [attempt ${attempt}]` : "";
    const where =
      nodes.length === 0 ? "" : ` (${nodes.slice(0, NAMED).map(clean).join(", ")}${nodes.length > NAMED ? ", …" : ""})`;
    print.line(`  ${localTime(at)}  ${clean(text)}${where}${which}`);
  }
}

const NAMED = 4;

// `lattice plan`: the same as `lattice submit --dry-run`, with the same flags.

import type { Command } from "commander";
import { define as defineSubmit } from "./submit.ts";

export function define(command: Command): void {
  defineSubmit(command);
  command.setOptionValue("dryRun", true);
}

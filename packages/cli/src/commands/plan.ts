// `lattice plan`: `lattice submit --dry-run` by its own name, with the same flags.

import type { Command } from "commander";
import { define as defineSubmit } from "./submit.ts";

export function define(command: Command): void {
  defineSubmit(command);
  command.setOptionValue("dryRun", true);
}

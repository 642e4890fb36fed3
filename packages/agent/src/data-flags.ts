// The flags that say where the data of jobs may come from on this node.

import type { Command } from "commander";

export interface DataOptions {
  /** Where homes are mounted from for jobs that ask for the defaults, with placeholders; empty: they are on the node. */
  readonly homeSource: string;
}

export const withData = (command: Command): Command =>
  command.option(
    "--home-source <place>",
    "homes of jobs with default data: /shared/home/{user}, nfs://filer/home/{user}",
    "",
  );

export const dataOptions = ({ homeSource }: DataOptions): DataOptions => ({ homeSource });

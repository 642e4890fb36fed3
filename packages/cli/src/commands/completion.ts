// `lattice completion SHELL`: a script for the shell to source. The words come from the commands
// themselves, so that the script never falls behind them.

import { Argument, Command } from "commander";
import type { CommandTable } from "../command-module.ts";
import { addGlobalOptions } from "../global-options.ts";
import { bashScript } from "./completion/bash.ts";
import { fishScript } from "./completion/fish.ts";
import { argumentKind } from "./completion/kinds.ts";
import type { CompletionTree } from "./completion/tree.ts";
import { zshScript } from "./completion/zsh.ts";

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export function define(command: Command, all: CommandTable): void {
  command
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SHELLS)))
    .addHelpText("after", "\nFor example: lattice completion bash > /etc/bash_completion.d/lattice")
    .action(async (shell: keyof typeof SHELLS) => {
      process.stdout.write(SHELLS[shell](await completionTree(all)));
    });
}

/** Loads every command, which only this command does. */
export async function completionTree(all: CommandTable): Promise<CompletionTree> {
  const program = new Command("lattice").enablePositionalOptions();
  for (const [name, entry] of Object.entries(all)) {
    if (entry.hidden === true) continue;
    const command = program.command(name).description(entry.summary);
    (await entry.load()).define(command, all);
  }
  return toTree(addGlobalOptions(program), [], []);
}

function toTree(command: Command, inherited: readonly string[], path: readonly string[]): CompletionTree {
  const own = command.options
    .filter(({ hidden }) => !hidden)
    .flatMap(({ short, long }) => [short, long])
    .filter((flag) => flag !== undefined);
  const flags = [...new Set([...inherited, ...own, "--help"])];
  return {
    name: command.name(),
    summary: command.description(),
    flags,
    values: argumentKind(path),
    commands: command.commands.map((below) =>
      toTree(below, inherited.length === 0 ? own : inherited, [...path, below.name()]),
    ),
  };
}

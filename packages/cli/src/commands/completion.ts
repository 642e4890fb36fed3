// `lattice completion SHELL`: prints a completion script, generated from the command definitions.

import { Argument, Command, type Option } from "commander";
import type { CommandTable } from "../command-module.ts";
import { addGlobalOptions } from "../global-options.ts";
import { bashScript } from "./completion/bash.ts";
import { fishScript } from "./completion/fish.ts";
import { flagValues } from "./completion/flag-values.ts";
import { argumentKind } from "./completion/kinds.ts";
import type { CompletionTree, FlagChoices, FlagKind } from "./completion/tree.ts";
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

/** Loads every command; no other code does. */
export async function completionTree(all: CommandTable): Promise<CompletionTree> {
  const program = new Command("lattice").enablePositionalOptions();
  for (const [name, entry] of Object.entries(all)) {
    if (entry.hidden === true) continue;
    const command = program.command(name).description(entry.summary);
    (await entry.load()).define(command, all);
  }
  return toTree(addGlobalOptions(program), NOTHING, []);
}

interface Inherited {
  readonly flags: readonly string[];
  readonly valued: readonly string[];
  readonly choices: readonly FlagChoices[];
  readonly kinds: readonly FlagKind[];
}

const NOTHING: Inherited = { flags: [], valued: [], choices: [], kinds: [] };

/** Global flags belong to every command. */
function toTree(command: Command, above: Inherited, path: readonly string[]): CompletionTree {
  const shown = command.options.filter(({ hidden }) => !hidden);
  const own: Inherited = {
    flags: shown.flatMap(flagsOf),
    valued: shown.filter(({ required, optional }) => required || optional).flatMap(flagsOf),
    choices: shown.flatMap((option) => choicesOf(option, path)),
    kinds: shown.flatMap((option) => kindsOf(option, path)),
  };
  // A command may define a flag of the same name with its own meaning.
  const inherited = ({ flags }: FlagChoices | FlagKind): boolean => !flags.some((flag) => own.flags.includes(flag));
  const below = path.length === 0 ? own : above;
  return {
    name: command.name(),
    summary: command.description(),
    flags: [...new Set([...above.flags, ...own.flags, "--help"])],
    valued: [...new Set([...above.valued, ...own.valued])],
    choices: [...above.choices.filter(inherited), ...own.choices],
    kinds: [...above.kinds.filter(inherited), ...own.kinds],
    words: command.registeredArguments[0]?.argChoices ?? [],
    values: argumentKind(path),
    commands: command.commands.map((one) => toTree(one, below, [...path, one.name()])),
  };
}

const flagsOf = ({ short, long }: Option): readonly string[] => [short, long].filter((flag) => flag !== undefined);

function choicesOf(option: Option, path: readonly string[]): readonly FlagChoices[] {
  const words = option.argChoices ?? flagValues(path, option.long ?? "")?.words;
  return words === undefined ? [] : [{ flags: flagsOf(option), words }];
}

function kindsOf(option: Option, path: readonly string[]): readonly FlagKind[] {
  const kind = option.argChoices === undefined ? flagValues(path, option.long ?? "")?.kind : undefined;
  return kind === undefined ? [] : [{ flags: flagsOf(option), kind }];
}

// What completion knows about a command, apart from any shell.

import type { ValueKind } from "./kinds.ts";

export interface CompletionTree {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
  /** Those of its flags that take a value. */
  readonly valued: readonly string[];
  /** Flags whose values are few and known without a server. */
  readonly choices: readonly FlagChoices[];
  /** What its argument may be, where that is known without a server. */
  readonly words: readonly string[];
  /** What its arguments name, to be asked of the server; null: files, or nothing. */
  readonly values: ValueKind | null;
  readonly commands: readonly CompletionTree[];
}

export interface FlagChoices {
  readonly flags: readonly string[];
  readonly words: readonly string[];
}

/** Flags that take a value in every command that has them: the word behind one is no command. */
export function valuedFlags(tree: CompletionTree): readonly string[] {
  const all = eachCommand(tree).map(([, command]) => command);
  const switches = new Set(all.flatMap(({ flags, valued }) => flags.filter((flag) => !valued.includes(flag))));
  return [...new Set(all.flatMap(({ valued }) => valued))].filter((flag) => !switches.has(flag));
}

/** The words of flags by command, alike ones together: as "status --state", and for every command as "--output". */
export function flagChoices(tree: CompletionTree): readonly (readonly [words: readonly string[], at: string[]])[] {
  const grouped = new Map<string, [readonly string[], string[]]>();
  for (const [path, { choices }] of eachCommand(tree)) {
    for (const { flags, words } of choices) {
      const known = grouped.get(words.join(" ")) ?? [words, []];
      known[1].push(...flags.map((flag) => [...path, flag].join(" ")));
      grouped.set(words.join(" "), known);
    }
  }
  return [...grouped.values()];
}

/** Every command with the words that lead to it, the program itself first with none. */
export function eachCommand(tree: CompletionTree): readonly (readonly [readonly string[], CompletionTree])[] {
  const walk = (node: CompletionTree, path: readonly string[]): (readonly [readonly string[], CompletionTree])[] => [
    [path, node],
    ...node.commands.flatMap((below) => walk(below, [...path, below.name])),
  ];
  return walk(tree, []);
}

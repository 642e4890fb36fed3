// The completion data of a command, independent of the shell.

import type { ValueKind } from "./kinds.ts";

export interface CompletionTree {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
  /** The flags that take a value. */
  readonly valued: readonly string[];
  /** Flags with a fixed list of values. */
  readonly choices: readonly FlagChoices[];
  /** Flags whose values come from the server. */
  readonly kinds: readonly FlagKind[];
  /** Fixed values of the argument. */
  readonly words: readonly string[];
  /** Kind of the arguments, from the server; `null` for files or no argument. */
  readonly values: ValueKind | null;
  readonly commands: readonly CompletionTree[];
}

export interface FlagChoices {
  readonly flags: readonly string[];
  readonly words: readonly string[];
}

export interface FlagKind {
  readonly flags: readonly string[];
  readonly kind: ValueKind;
}

/** Returns the flags that take a value in every command: the next word is no command. */
export function valuedFlags(tree: CompletionTree): readonly string[] {
  const all = eachCommand(tree).map(([, command]) => command);
  const switches = new Set(all.flatMap(({ flags, valued }) => flags.filter((flag) => !valued.includes(flag))));
  return [...new Set(all.flatMap(({ valued }) => valued))].filter((flag) => !switches.has(flag));
}

/** Groups flags with the same values, as "status --state", or "--output" for every command. */
export const flagChoices = (tree: CompletionTree): Grouped =>
  grouped(tree, ({ choices }) => choices.map(({ flags, words }) => ({ flags, value: words.join(" ") })));

/** Groups flags with the same kind. */
export const flagKinds = (tree: CompletionTree): Grouped =>
  grouped(tree, ({ kinds }) => kinds.map(({ flags, kind }) => ({ flags, value: kind })));

type Grouped = readonly (readonly [value: string, at: readonly string[]])[];

function grouped(
  tree: CompletionTree,
  of: (command: CompletionTree) => readonly { readonly flags: readonly string[]; readonly value: string }[],
): Grouped {
  const found = new Map<string, string[]>();
  for (const [path, command] of eachCommand(tree)) {
    for (const { flags, value } of of(command)) {
      const at = found.get(value) ?? [];
      at.push(...flags.map((flag) => [...path, flag].join(" ")));
      found.set(value, at);
    }
  }
  return [...found];
}

/** Returns every command with its path; the program itself comes first with an empty path. */
export function eachCommand(tree: CompletionTree): readonly (readonly [readonly string[], CompletionTree])[] {
  const walk = (node: CompletionTree, path: readonly string[]): (readonly [readonly string[], CompletionTree])[] => [
    [path, node],
    ...node.commands.flatMap((below) => walk(below, [...path, below.name])),
  ];
  return walk(tree, []);
}

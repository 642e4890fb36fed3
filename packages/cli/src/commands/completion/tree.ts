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
  /** Flags whose values are to be asked of the server. */
  readonly kinds: readonly FlagKind[];
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

export interface FlagKind {
  readonly flags: readonly string[];
  readonly kind: ValueKind;
}

/** Flags that take a value in every command that has them: the word behind one is no command. */
export function valuedFlags(tree: CompletionTree): readonly string[] {
  const all = eachCommand(tree).map(([, command]) => command);
  const switches = new Set(all.flatMap(({ flags, valued }) => flags.filter((flag) => !valued.includes(flag))));
  return [...new Set(all.flatMap(({ valued }) => valued))].filter((flag) => !switches.has(flag));
}

/** The words of flags by command, alike ones together: as "status --state", and for every command as "--output". */
export const flagChoices = (tree: CompletionTree): Grouped =>
  grouped(tree, ({ choices }) => choices.map(({ flags, words }) => ({ flags, value: words.join(" ") })));

/** The same of the kinds that flags name. */
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

/** Every command with the words that lead to it, the program itself first with none. */
export function eachCommand(tree: CompletionTree): readonly (readonly [readonly string[], CompletionTree])[] {
  const walk = (node: CompletionTree, path: readonly string[]): (readonly [readonly string[], CompletionTree])[] => [
    [path, node],
    ...node.commands.flatMap((below) => walk(below, [...path, below.name])),
  ];
  return walk(tree, []);
}

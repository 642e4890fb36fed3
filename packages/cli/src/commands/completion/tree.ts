// What completion knows about a command, apart from any shell.

import type { ValueKind } from "./kinds.ts";

export interface CompletionTree {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
  /** What its arguments name, to be asked of the server; null: files, or nothing. */
  readonly values: ValueKind | null;
  readonly commands: readonly CompletionTree[];
}

/** Every command with the words that lead to it, the program itself first with none. */
export function eachCommand(tree: CompletionTree): readonly (readonly [readonly string[], CompletionTree])[] {
  const walk = (node: CompletionTree, path: readonly string[]): (readonly [readonly string[], CompletionTree])[] => [
    [path, node],
    ...node.commands.flatMap((below) => walk(below, [...path, below.name])),
  ];
  return walk(tree, []);
}

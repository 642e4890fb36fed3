// The completion script for fish: one line per word, each with the condition under which it is
// offered.

import { flagKind, flagWords as wordsOf } from "./kinds.ts";
import { type CompletionTree, eachCommand } from "./tree.ts";

export function fishScript(tree: CompletionTree): string {
  const lines = ["# fish completion for lattice"];
  for (const [path, { commands, flags, values }] of eachCommand(tree)) {
    const below = commands.map(({ name }) => name);
    const at = path.length === 0 ? "__fish_use_subcommand" : condition(path, below);
    for (const { name, summary } of commands) {
      lines.push(`complete -c lattice -f -n ${quote(at)} -a ${name} -d ${quote(summary)}`);
    }
    for (const flag of flags) lines.push(`complete -c lattice -n ${quote(at)} ${flagWords(flag)}${flagValues(flag)}`);
    if (values !== null)
      lines.push(`complete -c lattice -f -n ${quote(at)} -a '(lattice __complete ${values} 2>/dev/null)'`);
  }
  return `${lines.join("\n")}\n`;
}

/** All the words that lead here have been typed, and none that leads further. */
function condition(path: readonly string[], below: readonly string[]): string {
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
  return below.length === 0 ? seen : `${seen}; and not __fish_seen_subcommand_from ${below.join(" ")}`;
}

const flagWords = (flag: string): string => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`);

function flagValues(flag: string): string {
  const kind = flagKind(flag);
  const words = wordsOf(flag);
  if (words !== null) return ` -x -a '${words.join(" ")}'`;
  return kind === null ? "" : ` -x -a '(lattice __complete ${kind} 2>/dev/null)'`;
}

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

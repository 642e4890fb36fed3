// The completion script for fish: one line per suggestion, with the command it belongs to. The script finds the current
// command itself, because the same word may be a command at several levels.

import { type CompletionTree, eachCommand, valuedFlags } from "./tree.ts";

export function fishScript(tree: CompletionTree): string {
  const all = eachCommand(tree);
  const lines = all.flatMap(([path, command]) => linesOf(path, command));
  const paths = all.filter(([path]) => path.length > 0).map(([path]) => quote(path.join(" ")));
  return `# fish completion for lattice
function __lattice_at
    set -l at ''
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
        else if string match -q -- '-*' $word
            contains -- $word ${valuedFlags(tree).join(" ")}
            and set skip yes
        else
            set -l next (string trim -- "$at $word")
            contains -- $next ${paths.join(" ")}
            and set at $next
        end
    end
    echo $at
end
function __lattice_is
    set -l at (__lattice_at)
    test "$at" = "$argv"
end
# Keeps the finished elements of a comma-separated list.
function __lattice_list
    set -l typed (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    set -l done (string match -r -- '^.*,' $typed)
    for one in $argv
        echo "$done$one"
    end
end
${lines.join("\n")}
`;
}

function linesOf(path: readonly string[], command: CompletionTree): readonly string[] {
  const at = `complete -c lattice -n ${quote(`__lattice_is ${path.join(" ")}`.trim())}`;
  return [
    ...command.commands.map(({ name, summary }) => `${at} -f -a ${name} -d ${quote(summary)}`),
    ...command.flags.map((flag) => `${at} ${flagWord(flag)}${flagValues(flag, command)}`),
    ...(command.words.length === 0 ? [] : [`${at} -f -a ${quote(command.words.join(" "))}`]),
    ...(command.values === null || command.commands.length > 0 ? [] : [`${at} -f -a '${asked(command.values)}'`]),
  ];
}

const flagWord = (flag: string): string => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`);

function flagValues(flag: string, { choices, kinds, valued }: CompletionTree): string {
  const words = choices.find(({ flags }) => flags.includes(flag))?.words;
  const kind = kinds.find(({ flags }) => flags.includes(flag))?.kind;
  if (words !== undefined) return ` -x -a '(__lattice_list ${words.join(" ")})'`;
  if (kind !== undefined) return ` -x -a '(__lattice_list ${asked(kind)})'`;
  return valued.includes(flag) ? " -r" : "";
}

const asked = (kind: string): string => `(lattice __complete ${kind} 2>/dev/null)`;

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

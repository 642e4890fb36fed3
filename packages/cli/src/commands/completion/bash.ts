// The completion script for bash: finds the command words on the line, then offers what is known
// below them, and file names where nothing is.

import { type CompletionTree, eachCommand } from "./tree.ts";

export function bashScript(tree: CompletionTree): string {
  const cases = eachCommand(tree).map(([path, { commands, flags }]) => {
    const names = commands.map(({ name }) => name).join(" ");
    return `    "${path.join(" ")}") commands="${names}" flags="${flags.join(" ")}" ;;`;
  });
  return `# bash completion for lattice
_lattice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at="" word commands="" flags="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ "$word" == -* ]] && continue
    _lattice_words "\${at:+$at }$word" && at="\${at:+$at }$word"
  done
  _lattice_words "$at"
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ -n "$commands" ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
_lattice_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
complete -o filenames -F _lattice lattice
`;
}

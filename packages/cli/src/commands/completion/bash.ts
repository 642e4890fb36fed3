// The completion script for bash: finds the command words on the line, then offers what is known
// below them: words, what the server names, and file names where nothing is. `--flag=value` comes to
// us as three words.

import { FLAG_KINDS } from "./kinds.ts";
import { type CompletionTree, eachCommand } from "./tree.ts";

export function bashScript(tree: CompletionTree): string {
  const cases = eachCommand(tree).map(([path, { commands, flags, values }]) => {
    const names = commands.map(({ name }) => name).join(" ");
    return `    "${path.join(" ")}") commands="${names}" flags="${flags.join(" ")}" values="${values ?? ""}" ;;`;
  });
  const kinds = Object.entries(FLAG_KINDS).map(([kind, flags]) => `    ${flags.join(" | ")}) values=${kind} ;;`);
  return `# bash completion for lattice
_lattice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at="" word commands="" flags="" values="" i
  local before="\${COMP_WORDS[COMP_CWORD - 1]}"
  [[ "$current" == "=" ]] && current=""
  [[ "$before" == "=" ]] && before="\${COMP_WORDS[COMP_CWORD - 2]}"
  case "$before" in
${kinds.join("\n")}
  esac
  if [[ -n "$values" ]]; then
    COMPREPLY=($(compgen -W "$(lattice __complete "$values" 2>/dev/null)" -- "$current"))
    return
  fi
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
  elif [[ -n "$values" ]]; then
    COMPREPLY=($(compgen -W "$(lattice __complete "$values" 2>/dev/null)" -- "$current"))
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

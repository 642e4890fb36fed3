// The completion script for bash: finds the command words on the line, then offers what is known
// below them: words, what the server names, and file names where nothing is. bash breaks words at `=` and `:`, so they
// are put together again, and of what is offered only what follows the last colon is given back.

import { FLAG_KINDS, FLAG_WORDS } from "./kinds.ts";
import { type CompletionTree, eachCommand } from "./tree.ts";

export function bashScript(tree: CompletionTree): string {
  const cases = eachCommand(tree).map(([path, { commands, flags, values }]) => {
    const names = commands.map(({ name }) => name).join(" ");
    return `    "${path.join(" ")}") commands="${names}" flags="${flags.join(" ")}" values="${values ?? ""}" ;;`;
  });
  const kinds = Object.entries(FLAG_KINDS).map(([kind, flags]) => `    ${flags.join(" | ")}) values=${kind} ;;`);
  const known = FLAG_WORDS.map(([flags, words]) => `    ${flags.join(" | ")}) words="${words.join(" ")}" ;;`);
  return `# bash completion for lattice
_lattice() {
  local current="" before="" at="" word commands="" flags="" values="" words="" i
  for ((i = COMP_CWORD; i > 0; i--)); do
    word="\${COMP_WORDS[i]}"
    current="$word$current"
    before="\${COMP_WORDS[i - 1]}"
    [[ "$word" == [:=] || "$before" == [:=] ]] || break
  done
  if [[ "$current" == --*=* ]]; then
    before="\${current%%=*}"
    current="\${current#*=}"
  fi
  case "$before" in
${[...kinds, ...known].join("\n")}
  esac
  if [[ -n "$words$values" ]]; then
    [[ -n "$values" ]] && words="$(lattice __complete "$values" 2>/dev/null)"
    local done=""
    [[ "$current" == *,* ]] && done="\${current%,*},"
    COMPREPLY=($(compgen -P "$done" -W "$words" -- "\${current#"$done"}"))
    [[ "$current" == *:* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${current%:*}:"}")
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

// The completion script for zsh, with the summaries of the commands beside their names.

import { FLAG_KINDS, FLAG_WORDS } from "./kinds.ts";
import { type CompletionTree, eachCommand } from "./tree.ts";

export function zshScript(tree: CompletionTree): string {
  const cases = eachCommand(tree).map(([path, { commands, flags, values }]) => {
    const described = commands.map(({ name, summary }) => quote(`${name}:${summary.replaceAll(":", "\\:")}`)).join(" ");
    return `    ${quote(path.join(" "))}) commands=(${described}) flags=(${flags.join(" ")}) values=${values ?? "''"} ;;`;
  });
  const kinds = Object.entries(FLAG_KINDS).map(([kind, flags]) => `    ${flags.join(" | ")}) values=${kind} ;;`);
  const known = FLAG_WORDS.map(([flags, words]) => `    ${flags.join(" | ")}) offered=(${words.join(" ")}) ;;`);
  return `#compdef lattice
_lattice_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
_lattice() {
  local at="" word values="" before="\${words[CURRENT-1]}"
  local -a commands flags offered
  if [[ "\${words[CURRENT]}" == --*=* ]]; then
    before="\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
  case "$before" in
${[...kinds, ...known].join("\n")}
  esac
  [[ -n "$values" ]] && offered=(\${(f)"$(lattice __complete $values 2>/dev/null)"})
  if (( \${#offered} )) || [[ -n "$values" ]]; then
    compset -P '*,'
    compadd -- $offered
    return
  fi
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] && continue
    _lattice_words "\${at:+$at }$word" && at="\${at:+$at }$word"
  done
  _lattice_words "$at"
  if [[ "\${words[CURRENT]}" == -* ]]; then
    compadd -- $flags
  elif (( \${#commands} )); then
    _describe 'command' commands
  elif [[ -n "$values" ]]; then
    compadd -- \${(f)"$(lattice __complete $values 2>/dev/null)"}
  else
    _files
  fi
}
# As a file of fpath this text is the function; sourced, it has to be announced.
if [[ "\${funcstack[1]}" == "_lattice" ]]; then
  _lattice "$@"
else
  compdef _lattice lattice
fi
`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

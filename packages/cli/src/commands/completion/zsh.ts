// The completion script for zsh, with the summaries of the commands beside their names.

import { type CompletionTree, eachCommand } from "./tree.ts";

export function zshScript(tree: CompletionTree): string {
  const cases = eachCommand(tree).map(([path, { commands, flags }]) => {
    const described = commands.map(({ name, summary }) => quote(`${name}:${summary.replaceAll(":", "\\:")}`)).join(" ");
    return `    ${quote(path.join(" "))}) commands=(${described}) flags=(${flags.join(" ")}) ;;`;
  });
  return `#compdef lattice
_lattice_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
_lattice() {
  local at="" word
  local -a commands flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" == -* ]] && continue
    _lattice_words "\${at:+$at }$word" && at="\${at:+$at }$word"
  done
  _lattice_words "$at"
  if [[ "\${words[CURRENT]}" == -* ]]; then
    compadd -- $flags
  elif (( \${#commands} )); then
    _describe 'command' commands
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

// The completion script for zsh, which shows the summaries of commands.

import { type CompletionTree, eachCommand, flagChoices, flagKinds, valuedFlags } from "./tree.ts";

export function zshScript(tree: CompletionTree): string {
  const cases = eachCommand(tree).map(([path, { commands, flags, words, values }]) => {
    const described = commands.map(({ name, summary }) => quote(`${name}:${summary.replaceAll(":", "\\:")}`)).join(" ");
    const known = `commands=(${described}) known=(${words.join(" ")}) flags=(${flags.join(" ")}) values=${values ?? "''"}`;
    return `    ${quote(path.join(" "))}) ${known} ;;`;
  });
  const places = (at: readonly string[]): string => at.map(quote).join(" | ");
  const kinds = flagKinds(tree).map(([kind, at]) => `    ${places(at)}) kind=${kind} ;;`);
  const choices = flagChoices(tree).map(([words, at]) => `    ${places(at)}) offered=(${words}) ;;`);
  return `#compdef lattice
_lattice_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
_lattice_valued() {
  case "$1" in
    ${valuedFlags(tree).join(" | ")}) return 0 ;;
    *) return 1 ;;
  esac
}
_lattice() {
  local at="" word skip="" values="" kind="" before="\${words[CURRENT-1]}"
  local -a commands known flags offered
  if [[ "\${words[CURRENT]}" == --*=* ]]; then
    before="\${words[CURRENT]%%=*}"
    compset -P 1 '*='
  fi
  _lattice_words ""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n "$skip" ]]; then
      skip=""
    elif [[ "$word" == -* ]]; then
      _lattice_valued "$word" && skip=yes
    else
      _lattice_words "\${at:+$at }$word" && at="\${at:+$at }$word"
    fi
  done
  case "\${at:+$at }$before" in
${kinds.join("\n")}
${choices.join("\n")}
  esac
  [[ -n "$kind" ]] && offered=(\${(f)"$(lattice __complete $kind 2>/dev/null)"})
  if (( \${#offered} )) || [[ -n "$kind" ]]; then
    compset -P '*,'
    compadd -- $offered
  elif _lattice_valued "$before"; then
    _files
  elif [[ "\${words[CURRENT]}" == -* ]]; then
    compadd -- $flags
  elif (( \${#commands} )); then
    _describe 'command' commands
  elif (( \${#known} )); then
    compadd -- $known
  elif [[ -n "$values" ]]; then
    compadd -- \${(f)"$(lattice __complete $values 2>/dev/null)"}
  else
    _files
  fi
}
# Loaded from fpath, this text is the function itself; sourced, it must be registered.
if [[ "\${funcstack[1]}" == "_lattice" ]]; then
  _lattice "$@"
else
  compdef _lattice lattice
fi
`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

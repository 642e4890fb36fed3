// The completion script for bash. It finds the command on the line, then suggests subcommands, flags, values from the
// server, or else file names. bash splits words at `=` and `:`; the script joins them again and returns only the part
// after the last separator.

import { type CompletionTree, eachCommand, flagChoices, flagKinds, valuedFlags } from "./tree.ts";

export function bashScript(tree: CompletionTree): string {
  const cases = eachCommand(tree).map(([path, { commands, flags, words, values }]) => {
    const names = [...commands.map(({ name }) => name), ...words].join(" ");
    return `    "${path.join(" ")}") commands="${names}" flags="${flags.join(" ")}" values="${values ?? ""}" ;;`;
  });
  const places = (at: readonly string[]): string => at.map((one) => `"${one}"`).join(" | ");
  const kinds = flagKinds(tree).map(([kind, at]) => `    ${places(at)}) kind=${kind} ;;`);
  const known = flagChoices(tree).map(([words, at]) => `    ${places(at)}) words="${words}" ;;`);
  const valued = valuedFlags(tree).join(" | ");
  return `# bash completion for lattice
_lattice() {
  local current="" before="" at="" skip="" word commands="" flags="" values="" kind="" words="" i
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
  _lattice_words ""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ "$word" == [:=] ]]; then
      skip=yes
    elif [[ -n "$skip" ]]; then
      skip=""
    elif [[ "$word" == -* ]]; then
      _lattice_valued "$word" && skip=yes
    else
      _lattice_words "\${at:+$at }$word" && at="\${at:+$at }$word"
    fi
  done
  case "\${at:+$at }$before" in
${kinds.join("\n")}
${known.join("\n")}
  esac
  if [[ -n "$words$kind" ]]; then
    [[ -n "$kind" ]] && words="$(lattice __complete "$kind" 2>/dev/null)"
    local done=""
    [[ "$current" == *,* ]] && done="\${current%,*},"
    COMPREPLY=($(compgen -P "$done" -W "$words" -- "\${current#"$done"}"))
    _lattice_broken
    return
  fi
  if _lattice_valued "$before"; then
    COMPREPLY=($(compgen -f -- "$current"))
  elif [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ -n "$commands" ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  elif [[ -n "$values" ]]; then
    COMPREPLY=($(compgen -W "$(lattice __complete "$values" 2>/dev/null)" -- "$current"))
    _lattice_broken
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
_lattice_broken() {
  local kept="\${current%"\${current##*[:=]}"}"
  COMPREPLY=("\${COMPREPLY[@]#"$kept"}")
}
_lattice_valued() {
  case "$1" in
    ${valued}) return 0 ;;
    *) return 1 ;;
  esac
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

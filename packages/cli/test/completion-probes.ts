// Scripts that print a shell's suggestions for lines. None waits for a fixed time: bash and fish answer directly; zsh
// completes only interactively, so it gets a terminal and reports when it is done.

/** A stub of the command, which prints the requested kind. */
export const STAND_IN = `#!/bin/sh
[ "$1" = __complete ] && printf '%s\\n' "asked-$2" "other-$2"
`;

const quoted = (line: string): string => `'${line}'`;

/** Splits words as bash does for completion: at blanks, = and :. */
const wordsOf = (line: string): readonly string[] =>
  line
    .split(" ")
    .flatMap((word) =>
      word.split(/([=:])/).filter((part, index, all) => part !== "" || all.length === 1 || index === all.length - 1),
    );

export const bashProbe = (lines: readonly string[]): string => `source completion.bash
offer() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _lattice
  for one in "\${COMPREPLY[@]}"; do echo "hit:$one"; done
}
${lines.map((line) => `echo ${quoted(`line:${line}`)}; offer ${wordsOf(line).map(quoted).join(" ")}`).join("\n")}
`;

export const fishProbe = (lines: readonly string[]): string => `source completion.fish
for line in ${lines.map(quoted).join(" ")}
  echo "line:$line"
  complete -C "$line" | string replace -r '\\t.*' '' | string replace -r '^' 'hit:'
end
`;

export const zshProbe = (lines: readonly string[]): string => `zmodload zsh/zpty
cat > setup.zsh <<'END'
PS1= PS2= RPS1= LISTMAX=10000
stty -echo
bindkey -e
bindkey '^I' complete-word
fpath=($PWD/fpath $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a hits
  builtin compadd -O hits "$@"
  local one
  for one in $hits; do print -r -- $'\\n'"hit:$IPREFIX$one"; done
  (( $#hits ))
}
ended() { print -r -- $'\\n'"probe-"ended; comppostfuncs=(ended) }
comppostfuncs=(ended)
# Only now are keys read one by one.
zle-line-init() { print -r -- "probe-"ready }
zle -N zle-line-init
END
zpty probe zsh -f -i
zpty -w probe "source $PWD/setup.zsh"
zpty -r probe seen '*probe-ready*'
for line in ${lines.map(quoted).join(" ")}; do
  print -r -- "line:$line"
  zpty -w -n probe "$line"$'\\t'
  zpty -r probe seen '*probe-ended*'
  print -r -- $seen
  zpty -w -n probe $'\\x15'
done
zpty -d probe
`;

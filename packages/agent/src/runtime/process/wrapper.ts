// The shell script that stands between the agent and a workload. It leads the session, so the
// workload outlives the agent; it claims the attempt by creating `pid` with noclobber, so the
// same attempt never runs twice, whatever crashed; and it leaves the exit status in `exit`. It
// uses no variables of its own before the command has ended (they could shadow the job's), and
// forks once, for the command, where there are at most two groups to join.
//
// Arguments: attempt folder, files to join control groups by (one to a line, or empty), working
// directory, umask, then the command. A prologue that goes on inside the command leaves its failure in
// `unlaunched`. `exit` is one line written at once; a reader takes it only with its newline.
// A rename would need one more process for each job and promise nothing beyond that.

/** The wrapper found the attempt claimed by another wrapper, or could not claim it at all. */
export const NOT_CLAIMED = 97;

export const wrapperScript = `# Runs one attempt of a Lattice allocation; started by lattice-agent.
set -C
echo $$ >"$1/pid" || exit ${NOT_CLAIMED}
set +C
trap : TERM INT HUP USR1 USR2
umask 077
exec >>"$1/stdout" 2>>"$1/stderr"
umask "$4"
case $2 in
'') ;;
*'
'*'
'*) (set -f; IFS='
'; for group in $2; do echo $$ >"$group" || exit 1; done) ;;
*'
'*) echo 0 >"\${2%
*}" && echo 0 >"\${2#*
}" ;;
*) echo 0 >"$2" ;;
esac
if [ $? -ne 0 ]; then
  echo "launch could not join its control group" >"$1/exit"
  exit 1
fi
if ! cd "$3"; then
  echo "launch cannot enter the working directory $3" >"$1/exit"
  exit 1
fi
if [ -e "$1/stop" ]; then
  echo "launch it was stopped before it began" >"$1/exit"
  exit 1
fi
(shift 4; exec "$@")
set -- "$1" $?
if [ -s "$1/unlaunched" ] && read -r line <"$1/unlaunched"; then
  printf '%s\\n' "$line" >"$1/exit"
else
  echo "$2" >"$1/exit"
fi
exit "$2"
`;

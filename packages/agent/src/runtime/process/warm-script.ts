// The shell that stands ready for attempts, one after the other. For each it starts a wrapper that joins its
// control group at once and then waits to be told which attempt it is for; itself it stays behind as the
// parent, and says how the wrapper ended. It is told on standard input: "+", a name, and the file to join the group by
// (or nothing). A line that begins otherwise is the wrapper's; one that was ended before it could read it leaves
// it here. When the agent goes, a wrapper that still waits goes too; one that runs does not notice.

/** Its one argument: the wrapper. */
export const warmScript = `# Waits for attempts of Lattice allocations; started by lattice-agent.
while read -r kind name group; do
  [ "$kind" = + ] || continue
  (exec /usr/bin/setsid /bin/sh "$0" "$name" "$group")
  echo "ended $?"
done
`;

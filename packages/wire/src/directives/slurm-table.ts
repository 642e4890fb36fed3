// The meaning of each #SBATCH option in Lattice. An option without an equivalent is ignored with a warning, so that
// existing scripts keep working; an option whose loss would change what runs is refused.

/** Short flags and the long options they stand for. */
export const SLURM_SHORT: Readonly<Record<string, string>> = {
  N: "nodes",
  n: "ntasks",
  t: "time",
  p: "partition",
  A: "account",
  J: "job-name",
  o: "output",
  e: "error",
  i: "input",
  C: "constraint",
  D: "chdir",
  a: "array",
  d: "dependency",
  q: "qos",
  c: "cpus-per-task",
  w: "nodelist",
  x: "exclude",
  G: "gpus",
  L: "licenses",
  M: "clusters",
  H: "hold",
  b: "begin",
  B: "extra-node-info",
  s: "oversubscribe",
  v: "verbose",
  Q: "quiet",
  k: "no-kill",
  F: "nodefile",
  S: "core-spec",
  m: "distribution",
  W: "wait",
  O: "overcommit",
};

/** Options without a value. */
export const SLURM_FLAGS: ReadonlySet<string> = new Set([
  "exclusive",
  "oversubscribe",
  "overcommit",
  "contiguous",
  "requeue",
  "no-requeue",
  "hold",
  "no-kill",
  "verbose",
  "quiet",
  "wait",
  "parsable",
  "reboot",
  "spread-job",
  "use-min-nodes",
  "test-only",
  "get-user-env",
  "ignore-pbs",
  "no-bell",
  "hetjob",
  "packjob",
]);

const FULL_NODES = "Lattice uses full-node scheduling";

/** Ignored, with the reason; the loss does not change what runs. */
export const SLURM_IGNORED: Readonly<Record<string, string>> = {
  "mail-user": "use `lattice watch` for event notifications",
  "mail-type": "use `lattice watch` for event notifications",
  licenses: "use --constraint with a feature of the nodes",
  clusters: "submit to the other cluster's own address",
  switches: "nodes are packed into the fewest groups by themselves; --constraint=topology=tight asks for it",
  oversubscribe: `${FULL_NODES}`,
  reservation: "reservations are not supported",
  "mem-bind": `${FULL_NODES}, memory is not constrainable`,
  "gpus-per-socket": "Lattice counts GPUs per node; use --gpus-per-node",
  "threads-per-core": `${FULL_NODES}, a job has every core of its nodes`,
  "cores-per-socket": `${FULL_NODES}, a job has every core of its nodes`,
  "sockets-per-node": `${FULL_NODES}, a job has every core of its nodes`,
  "extra-node-info": `${FULL_NODES}, a job has every core of its nodes`,
  "core-spec": `${FULL_NODES}, a job has every core of its nodes`,
  hint: `${FULL_NODES}, a job has every core of its nodes`,
  tmp: "disk space is not constrainable; use --constraint with a feature of the nodes",
  signal: "SIGTERM comes half a minute before the end of the walltime",
  nice: "use --qos",
  priority: "use --qos",
  wckey: "use #LATTICE --tag=NAME=VALUE",
};

/** Ignored silently: Lattice does this anyway, or it concerns only the submitting program. */
export const SLURM_SILENT: ReadonlySet<string> = new Set([
  "verbose",
  "quiet",
  "parsable",
  "wait",
  "test-only",
  "ignore-pbs",
  "no-bell",
]);

/** Refused: ignoring it would run something else. */
export const SLURM_REFUSED: Readonly<Record<string, string>> = {
  begin: "a start time is not supported; submit the job then, or let it depend on another",
  deadline: "a deadline is not supported; leave it out",
  input: "a job reads no standard input; redirect it in the script",
  nodefile: "a file of nodes is not supported; name them with --nodelist",
  bb: "burst buffers are not supported; use #LATTICE --data-mount",
  bbf: "burst buffers are not supported; use #LATTICE --data-mount",
  hetjob: "heterogeneous jobs are not supported; submit each part, with --dependency between them",
  packjob: "heterogeneous jobs are not supported; submit each part, with --dependency between them",
  "het-group": "heterogeneous jobs are not supported; submit each part, with --dependency between them",
  uid: "a job runs as the user who submits it",
  gid: "a job runs as the user who submits it",
};

/** The condition of each kind of `--dependency`. */
export const SLURM_DEPENDENCIES: Readonly<Record<string, string>> = {
  afterok: "success",
  afternotok: "failure",
  afterany: "any",
  aftercorr: "corresponding",
};

export const DEFAULT_QOS_CLASSES: Readonly<Record<string, number>> = { low: 1, normal: 4, high: 7, urgent: 9 };

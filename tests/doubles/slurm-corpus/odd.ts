// Irregular but real scripts: comments, blanks, quotes, late lines, both kinds of directives, mail, variables, and
// options without a meaning here.

import type { Case } from "./case.ts";

export const odd: readonly Case[] = [
  {
    title: "comments between, commented out, and behind directives",
    script: `# My job.
#SBATCH --nodes=2   # two are enough
##SBATCH --nodes=16
# SBATCH --nodes=32

#SBATCH --time=10
./x`,
    becomes: { nodes: 2, walltime_seconds: 600 },
  },
  {
    title: "a directive after the first command does not count",
    script: "#SBATCH -N 2\ncd /tmp\n#SBATCH -N 8\n./x",
    becomes: { nodes: 2 },
    warns: ["line 4: #SBATCH -N 8 ignored (it is after the first command)"],
  },
  {
    title: "quotes and blanks in values",
    script: `#SBATCH --job-name="my long name"   --chdir='/data/my runs'\n./x`,
    becomes: { name: "my long name", workdir: "/data/my runs" },
  },
  {
    title: "a quote that is not closed",
    script: '#SBATCH --job-name="my job\n./x',
    refused: ["has an open quote"],
  },
  {
    title: "mail",
    script: `#SBATCH --mail-type=END,FAIL
#SBATCH --mail-user=someone@example.org
./x`,
    warns: ["--mail-type=END,FAIL ignored (use `lattice watch`", "--mail-user=someone@example.org ignored"],
  },
  {
    title: "Slurm's and Lattice's directives: the latter win",
    script: "#SBATCH -N 2\n#SBATCH -t 10\n#LATTICE --nodes=3\n#LATTICE --tag=team=blue\n./x",
    becomes: { nodes: "3", walltime_seconds: 600, tags: { team: "blue" } },
  },
  {
    title: "flags win over both",
    flags: ["-N1", "--time", "0-1"],
    script: "#SBATCH -N 2\n#SBATCH -t 10\n#LATTICE --nodes=3\n./x",
    becomes: { nodes: 1, walltime_seconds: 3_600 },
  },
  {
    title: "SBATCH_ variables win over the script, flags over them",
    env: { SBATCH_PARTITION: "gpu", SBATCH_ACCOUNT: "physics" },
    flags: ["--account=biology"],
    script: "#SBATCH -p normal -A chemistry\n./x",
    becomes: { vcluster: "ml-training", tenant: "biology" },
  },
  {
    title: "variables that are named, set, and missing",
    env: { DATASET: "imagenet" },
    flags: ["--export=DATASET,MODE=fast,NOWHERE"],
    script: "./x",
    variables: { DATASET: "imagenet", MODE: "fast" },
    warns: ["NOWHERE is not set"],
  },
  {
    title: "the whole environment, when asked for",
    env: { DATASET: "imagenet", LATTICE_TOKEN: "secret" },
    script: "#SBATCH --export=ALL\n./x",
    variables: { DATASET: "imagenet" },
  },
  {
    title: "the whole environment by default, without the tokens of Lattice",
    env: { CONDA_PREFIX: "/opt/conda", PATH: "/opt/conda/bin:/usr/bin", LATTICE_TOKEN: "secret", SLURM_PROCID: "3" },
    script: "./x",
    variables: { CONDA_PREFIX: "/opt/conda", PATH: "/opt/bin:/opt/conda/bin:/usr/bin" },
    without: ["LATTICE_TOKEN", "SLURM_PROCID"],
  },
  {
    title: "nothing of the environment, with --export=NONE",
    env: { CONDA_PREFIX: "/opt/conda" },
    flags: ["--export=NONE"],
    script: "./x",
    without: ["CONDA_PREFIX"],
  },
  {
    title: "--export by a variable, which wins over the script",
    env: { SBATCH_EXPORT: "A", A: "1", B: "2" },
    script: "#SBATCH --export=ALL\n./x",
    variables: { A: "1" },
    without: ["B"],
  },
  {
    title: "nothing of the environment by a variable",
    env: { SBATCH_EXPORT: "NONE", A: "1" },
    script: "./x",
    without: ["A"],
  },
  {
    title: "arguments for the script",
    args: ["--input", "a file"],
    script: '#SBATCH -J args\necho "$2"',
    becomes: { name: "args" },
  },
  {
    title: "an unknown QoS",
    script: "#SBATCH --qos=platinum\n./x",
    warns: ["--qos=platinum ignored (no preemption class is configured for this QoS)"],
  },
  {
    title: "no limit of time",
    script: "#SBATCH --time=UNLIMITED\n./x",
    warns: ["--time=UNLIMITED ignored (every job has a limit"],
  },
  {
    title: "requeueing, and what does not matter",
    script: "#SBATCH --no-requeue\n#SBATCH --open-mode=append\n#SBATCH --comment=hi\n#SBATCH --signal=B:USR1@120\n./x",
    becomes: {
      requeue_policy: "never",
      output_file: "slurm-%j.out",
      output: { append: true, if_possible: true },
      tags: { comment: "hi" },
    },
  },
  { title: "held", script: "#SBATCH --hold\n./x", becomes: { hold: true } },
  { title: "held by a flag", flags: ["-H"], script: "./x", becomes: { hold: true } },
];

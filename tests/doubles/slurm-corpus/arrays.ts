// Arrays and chains: many jobs from one script, and dependent jobs.

import type { Case } from "./case.ts";

export const arrays: readonly Case[] = [
  {
    title: "an array with a limit",
    script: `#SBATCH --array=0-99%20
#SBATCH --output=logs/%A_%a.out
#SBATCH --time=00:20:00
python run.py --seed "$SLURM_ARRAY_TASK_ID"`,
    becomes: {
      task_group: { start: 0, end: 99, concurrency: 20 },
      walltime_seconds: 1_200,
      output_file: "logs/%A_%a.out",
    },
    variables: { SLURM_ARRAY_TASK_COUNT: "100", SLURM_ARRAY_TASK_MIN: "0", SLURM_ARRAY_TASK_MAX: "99" },
  },
  {
    title: "an array with steps",
    script: '#SBATCH -a 1-9:2\nfile=$(sed -n "$SLURM_ARRAY_TASK_ID p" files.txt)\n./process "$file"',
    becomes: { task_group: { start: 1, end: 9, step: 2 } },
    variables: { SLURM_ARRAY_TASK_COUNT: "5", SLURM_ARRAY_TASK_MAX: "9", SLURM_ARRAY_TASK_STEP: "2" },
  },
  {
    title: "an array of one",
    script: "#SBATCH --array=7\n./one",
    becomes: { task_group: { start: 7, end: 7 } },
  },
  {
    title: "the array of the command line instead of the script's",
    flags: ["-a", "0-3"],
    script: "#SBATCH --array=0-99%20\n./one",
    becomes: { task_group: { start: 0, end: 3 } },
  },
  {
    title: "an array of scattered indexes",
    script: "#SBATCH --array=1,3,5-7%2\n./one",
    becomes: { task_group: { indexes: "1,3,5-7", concurrency: 2 } },
    variables: {
      SLURM_ARRAY_TASK_COUNT: "5",
      SLURM_ARRAY_TASK_MIN: "1",
      SLURM_ARRAY_TASK_MAX: "7",
      SLURM_ARRAY_TASK_STEP: "1",
    },
  },
  {
    title: "an array of what had failed, as a program lists it",
    flags: ["--array=12,3,4,5,3,20-26:3"],
    script: "#SBATCH --array=0-99\n./one",
    becomes: { task_group: { indexes: "3-5,12,20,23,26" } },
    variables: { SLURM_ARRAY_TASK_COUNT: "7", SLURM_ARRAY_TASK_MIN: "3", SLURM_ARRAY_TASK_MAX: "26" },
  },
  {
    title: "a list with something that is no index",
    script: "#SBATCH --array=1,x,3\n./one",
    refused: ["--array=1,x,3", '"x" is not an index'],
  },
  {
    title: "an array that is none",
    script: "#SBATCH --array=a-b\n./one",
    refused: ["--array=a-b", '"a-b" is not a range of indexes'],
  },
  {
    title: "after others have ended well",
    script: "#SBATCH --dependency=afterok:101:102\n./merge",
    becomes: {
      depends_on: [
        { ref: "101", condition: "success" },
        { ref: "102", condition: "success" },
      ],
    },
  },
  {
    title: "after a failure, and after any end",
    script: "#SBATCH -d afternotok:7,afterany:8_3\n./clean-up",
    becomes: {
      depends_on: [
        { ref: "7", condition: "failure" },
        { ref: "8_3", condition: "any" },
      ],
    },
  },
  {
    title: "each element after its counterpart",
    flags: ["--dependency=aftercorr:55"],
    script: "#SBATCH --array=1-10\n./second-stage",
    becomes: { task_group: { start: 1, end: 10 }, depends_on: [{ ref: "55", condition: "corresponding" }] },
  },
  {
    title: "one of its name at a time, the name coming later",
    script: "#SBATCH --dependency=singleton\n#SBATCH --job-name=nightly\n./nightly",
    becomes: { name: "nightly", depends_on: [{ ref: "nightly", condition: "mutex" }] },
  },
  {
    title: "the dependency of the command line instead of the script's",
    flags: ["-d", "afterany:9"],
    script: "#SBATCH -d afterok:1\n./x",
    becomes: { depends_on: [{ ref: "9", condition: "any" }] },
  },
  {
    title: "either of two: would run something else",
    script: "#SBATCH --dependency=afterok:1?afterok:2\n./x",
    refused: [
      "--dependency=afterok:1?afterok:2",
      "supported types: afterok, afternotok, afterany, aftercorr, singleton",
    ],
  },
  {
    title: "a delay after the start of another",
    script: "#SBATCH --dependency=after:123+10\n./x",
    refused: ["supported types: afterok"],
  },
];

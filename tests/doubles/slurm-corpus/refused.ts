// Scripts that would run as something else than requested, and are refused with the reason.

import type { Case } from "./case.ts";

export const refused: readonly Case[] = [
  {
    title: "not before a time",
    script: "#SBATCH --begin=now+1hour\n./x",
    refused: ["--begin=now+1hour", "a start time is not supported"],
  },
  {
    title: "heterogeneous jobs",
    script: "#SBATCH -N 1 --gres=gpu:1\n#SBATCH hetjob\n#SBATCH -N 4\nsrun ./a : ./b",
    refused: ["hetjob", "heterogeneous jobs are not supported"],
  },
  {
    title: "a burst buffer",
    script: '#SBATCH --bb="capacity=100G"\n./x',
    refused: ["--bb=", "burst buffers are not supported"],
  },
  {
    title: "standard input from a file",
    script: "#SBATCH --input=data.txt\ncat",
    refused: ["--input=data.txt", "redirect it in the script"],
  },
  {
    title: "alternatives of features",
    script: "#SBATCH --constraint=[rack1|rack2]\n./x",
    refused: ["only features joined by & are supported"],
  },
  {
    title: "several mistakes are reported together",
    script: "#SBATCH --nodes=zero\n#SBATCH --time=soon\n#SBATCH --ntasks=-1\n./x",
    refused: ["--nodes=zero", "--time=soon", "--ntasks=-1"],
  },
  {
    title: "an option that Slurm does not have",
    script: "./x",
    flags: ["--no-shebang-here"],
    refused: ["unrecognized option"],
  },
];

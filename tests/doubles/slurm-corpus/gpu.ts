// GPUs and machine learning, and scripts of other interpreters.

import type { Case } from "./case.ts";

export const gpu: readonly Case[] = [
  {
    title: "torchrun over several nodes",
    script: `#SBATCH --job-name=llm
#SBATCH --nodes=4
#SBATCH --gres=gpu:4
#SBATCH --ntasks-per-node=1
#SBATCH --partition=gpu
#SBATCH --qos=high
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun torchrun \\
  --nnodes "$SLURM_NNODES" \\
  --nproc_per_node 4 \\
  --rdzv_endpoint "$head:29500" \\
  train.py`,
    becomes: {
      name: "llm",
      nodes: 4,
      tasks_per_node: 1,
      vcluster: "ml-training",
      preemption_class: 7,
      constraints: { gpu_count: 4 },
    },
  },
  {
    title: "GPUs of one kind",
    script: "#SBATCH --gres=gpu:a100:8\n#SBATCH -N1\npython train.py",
    becomes: { nodes: 1, constraints: { gpu_type: "a100", gpu_count: 8 } },
  },
  {
    title: "GPUs for each node",
    script: "#SBATCH --gpus-per-node=gh200:4\npython train.py",
    becomes: { constraints: { gpu_type: "gh200", gpu_count: 4 } },
  },
  {
    title: "GPUs altogether",
    script: "#SBATCH -G 8\n#SBATCH --cpus-per-gpu=12\npython train.py",
    becomes: { total_gpus: 8 },
    warns: ["--cpus-per-gpu=12 ignored"],
  },
  {
    title: "GPUs and memory for each task",
    script: "#SBATCH -n 8 --gpus-per-task=1 --mem-per-cpu=4G -c 6\nsrun python train.py",
    becomes: { tasks: 8, total_gpus: 8, memory_gb_per_cpu: 4, cpus_per_task: 6 },
  },
  {
    title: "another generic resource beside the GPUs",
    script: "#SBATCH --gres=gpu:2,nvme:1\n./x",
    becomes: { constraints: { gpu_count: 2 } },
    warns: ["--gres=nvme:1 ignored (use --constraint"],
  },
  {
    title: "a number of GPUs that is none",
    script: "#SBATCH --gres=gpu:many:few\n./x",
    refused: ["--gres=gpu:many:few", "needs a number of GPUs"],
  },
  {
    title: "a sweep on GPUs",
    flags: ["--array=0-15%4", "-J", "sweep"],
    script: "#SBATCH --gres=gpu:1 --time=4:00:00\npython sweep.py $SLURM_ARRAY_TASK_ID",
    becomes: {
      name: "sweep",
      task_group: { start: 0, end: 15, concurrency: 4 },
      constraints: { gpu_count: 1 },
      walltime_seconds: 14_400,
    },
  },
  {
    title: "a script of Python on one node",
    script: "#!/usr/bin/env python3\n#SBATCH --job-name=py\n#SBATCH -t 5\nprint('hello')",
    becomes: { name: "py", walltime_seconds: 300 },
  },
  {
    title: "a script of Python on several nodes",
    script: "#!/usr/bin/python3\n#SBATCH -N 2\nprint('hello')",
    becomes: { nodes: 2 },
  },
  {
    title: "arguments for a script of Python",
    script: "#!/usr/bin/python3\nprint('hello')",
    args: ["--epochs=3"],
    becomes: { cpus_per_task: 1 },
  },
  {
    title: "a software image",
    script: "#SBATCH --uenv=prgenv-gnu/24.11:v1 --view=default\n#SBATCH -N1\n./x",
    becomes: { uenv: "prgenv-gnu/24.11:v1", view: "default", nodes: 1 },
  },
];

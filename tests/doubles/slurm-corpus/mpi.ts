// Parallel programs: MPI, hybrid with threads, and several steps in one job.

import type { Case } from "./case.ts";

export const mpi: readonly Case[] = [
  {
    title: "plain MPI",
    script: `#SBATCH --job-name=cfd
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32
#SBATCH --time=12:00:00
#SBATCH --partition=normal
module load openmpi
srun ./cfd input.nml`,
    becomes: { name: "cfd", nodes: 4, tasks_per_node: 32, walltime_seconds: 43_200, vcluster: "hpc-batch" },
    variables: { SLURM_NTASKS_PER_NODE: "32" },
  },
  {
    title: "hybrid MPI and OpenMP",
    script: `#SBATCH -J hybrid
#SBATCH -N 2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH -t 2:30:00
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun --cpu-bind=cores ./solver`,
    becomes: { name: "hybrid", nodes: 2, tasks_per_node: 4, cpus_per_task: 8, walltime_seconds: 9_000 },
    variables: { SLURM_CPUS_PER_TASK: "8" },
  },
  {
    title: "only a number of tasks",
    script: `#SBATCH --ntasks=64
#SBATCH --ntasks-per-node=16
#SBATCH --time=60
mpirun -np 64 ./a.out`,
    becomes: { tasks: 64, tasks_per_node: 16, walltime_seconds: 3_600 },
  },
  {
    title: "tasks without a number for each node are packed by cores",
    script: "#SBATCH -n 3\nsrun ./a.out",
    becomes: { tasks: 3, cpus_per_task: 1 },
    variables: { SLURM_NTASKS: "3" },
  },
  {
    title: "nodes, tasks and tasks for each node that disagree: nodes win",
    script: `#SBATCH --nodes=64
#SBATCH --ntasks=128
#SBATCH --ntasks-per-node=4
srun ./a.out`,
    becomes: { nodes: 64, tasks_per_node: 4 },
  },
  {
    title: "memory and exclusive nodes together",
    script: `#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH -N2
srun ./a.out`,
    becomes: { nodes: 2, exclusive: true },
  },
  {
    title: "a range of nodes",
    script: "#SBATCH --nodes=2-8\n#SBATCH -t 1-00:00:00\nsrun ./a.out",
    becomes: { nodes: { min: 2, max: 8 }, walltime_seconds: 86_400 },
  },
  {
    title: "steps one beside the other",
    script: `#SBATCH --nodes=4 --time=30 -p debug
srun -N2 -n2 ./left &
srun -N2 -n2 ./right &
wait`,
    becomes: { nodes: 4, vcluster: "interactive", walltime_seconds: 1_800 },
  },
  {
    title: "Intel MPI with a list of hosts",
    script: `#SBATCH -N 3
#SBATCH --ntasks-per-node 2
scontrol show hostnames "$SLURM_JOB_NODELIST" > hosts.$SLURM_JOB_ID
mpiexec -f hosts.$SLURM_JOB_ID -n $SLURM_NTASKS ./a.out`,
    becomes: { nodes: 3, tasks_per_node: 2 },
  },
  {
    title: "sockets, cores, threads and binding mean nothing on whole nodes",
    script: `#SBATCH -N 1
#SBATCH --ntasks-per-socket=8
#SBATCH --threads-per-core=1
#SBATCH --hint=nomultithread
#SBATCH --mem-bind=local
#SBATCH -m block:cyclic
srun ./a.out`,
    becomes: { nodes: 1 },
    warns: ["--ntasks-per-socket=8", "--threads-per-core=1", "--hint=nomultithread", "--mem-bind=local", "-m block"],
  },
  {
    title: "named and excluded nodes, features and switches",
    script: `#SBATCH -N 2 -w nid[001-002] -x nid009
#SBATCH -C "nvme&ib"
#SBATCH --switches=1
srun ./a.out`,
    becomes: {
      nodes: 2,
      constraints: { required_nodes: ["nid001", "nid002"], excluded_nodes: ["nid009"], features: ["nvme", "ib"] },
    },
    warns: ["--switches=1 ignored (nodes are packed into the fewest groups"],
  },
];

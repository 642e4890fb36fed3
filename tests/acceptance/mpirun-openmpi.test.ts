// OpenMPI's own mpirun inside a job: it reaches the other nodes through lattice-mpi-launcher, without SSH or extra
// flags.
import { expect, test } from "vitest";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });

test("mpirun starts tasks on every node and fails when they fail", async () => {
  const id = await cluster.submit({ nodes: 2, walltime: "10m", command: ["sleep", "600"] });
  await cluster.reaches(id, ["running"]);
  const mpirun = (...words: string[]) =>
    cluster.cli([
      ...["launch", `--alloc=${id}`, "-n", "1", "--pmi=none"],
      ...["mpirun.openmpi", "--allow-run-as-root", "--host", cluster.nodeIds.join(","), ...words],
    ]);
  const result = await mpirun(
    "sh",
    "-c",
    'echo "task $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $LATTICE_NODE"',
  );
  expect(result, result.stderr).toMatchObject({ code: 0 });
  expect(result.stdout.trim().split("\n").sort()).toEqual(["task 0 of 2 on node-1", "task 1 of 2 on node-2"]);
  // 213 if mpirun learns of the end of its daemon before that of the task.
  expect([7, 213]).toContain((await mpirun("sh", "-c", "exit $((OMPI_COMM_WORLD_RANK * 7))")).code);
  await cluster.cli(["cancel", id]);
});

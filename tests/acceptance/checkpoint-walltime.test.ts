// The end of the walltime of the program in docs/users/checkpoints.md: it is asked to save in time, is suspended with a
// complete checkpoint, and continues from it when resumed.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const output = mkdtempSync(join(tmpdir(), "lattice-walltime-"));
afterAll(() => rmSync(output, { recursive: true, force: true, maxRetries: 9 }));
const cluster = useCluster({ nodes: 2, agentArgs: ["--output-dir", output] });

const page = readFileSync(join(import.meta.dirname, "../../docs/users/checkpoints.md"), "utf8");
/** The script of the page, ended by a file instead of its last number. */
const script = (/<<'SCRIPT'\n([\s\S]*?)SCRIPT\n/.exec(page)?.[1] ?? "").replace("[ $n -lt 100000 ]", '[ ! -e "$1" ]');

interface Shown {
  readonly state: string;
  readonly reason?: string;
  readonly attempt?: number;
  readonly checkpoint?: { readonly completed?: number; readonly last?: { readonly number: number } };
}
const shown = async (id: string): Promise<Shown> => (await cluster.allocation(id)) as Shown;

test.concurrent.each(["8s", "20s"])("work with a walltime of %s is suspended with a checkpoint", async (walltime) => {
  const [file, finish] = [cluster.file(`count-${walltime}.sh`), cluster.file(`finish-${walltime}`)];
  writeFileSync(file, script);
  const submitted = await cluster.cli(["submit", "-q", "--checkpoint=signal", `--walltime=${walltime}`, file, finish]);
  const id = submitted.stdout.trim();
  await cluster.reaches(id, ["suspended"]);
  expect(await shown(id)).toMatchObject({ reason: "walltime", attempt: 1, checkpoint: { completed: 1 } });
  expect((await cluster.cli(["status", id])).stdout).toContain("its walltime is nearly over");
  // Its node has to confirm the cleanup first.
  await eventually({ what: "it is resumed" }, async () =>
    (await cluster.cli(["resume", id])).code === 0 ? true : null,
  );
  await cluster.reaches(id, ["running"]);
  expect((await cluster.cli(["why", "--checkpoint", id])).stdout).toContain("Resumes from checkpoint 1");
  writeFileSync(finish, "");
  expect(await cluster.ends(id)).toMatchObject({ state: "completed", attempt: 2 });
});

test.concurrent("a program that is too slow to save again is suspended with its earlier checkpoint", async () => {
  const file = cluster.file("once.sh");
  const slowly = script.replace("save() {", 'save() {\n  [ "$n" -lt 30 ] || sleep 60');
  writeFileSync(file, slowly);
  const flags = ["--checkpoint=signal", "--walltime=12s", file, cluster.file("never")];
  const id = (await cluster.cli(["submit", "-q", ...flags])).stdout.trim();
  await cluster.reaches(id, ["running"]);
  expect((await cluster.cli(["checkpoint", "--wait", id])).code).toBe(0);
  await cluster.reaches(id, ["suspended"]);
  expect(await shown(id)).toMatchObject({ reason: "walltime", checkpoint: { completed: 1, last: { number: 1 } } });
  await cluster.cli(["cancel", id]);
});

// Without a store a node keeps only the newest output: a job that prints more does not fill the disk, and readers see
// what is missing, also after an agent restart.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const MB = 1024 ** 2;
const LINE = "0123456789 the quick brown fox jumps over the lazy dog abcdefghijklmnopqrstuvwxyz";
const SLACK_BYTES = 64 * 1024;

const cluster = useCluster({ nodes: 1, agentArgs: ["--log-ring", "1"] });

const onNode = (id: string): string => {
  const places = ["attempts", "ended"].map((place) => join(cluster.dir, "agent-node-1", place, `${id}.1`, "stdout"));
  return places.find((path) => existsSync(path)) ?? "";
};

test("the agent discards old output of a running job, and readers see how many bytes are missing", async () => {
  const id = await cluster.submit({ entrypoint: `yes '${LINE}' | head -c ${8 * MB}; sleep 600` });
  const path = await eventually({ what: "it has printed" }, () =>
    onNode(id) !== "" && statSync(onNode(id)).size === 8 * MB ? onNode(id) : null,
  );
  await eventually({ what: "the front of the log is freed" }, () =>
    statSync(path).blocks * 512 <= MB + SLACK_BYTES ? true : null,
  );
  const all = await cluster.cli(["logs", id, "--stdout"]);
  expect(all.code).toBe(0);
  expect(all.stdout.startsWith(`[lattice: ${7 * MB} bytes of earlier output are no longer kept on node-1]\n`)).toBe(
    true,
  );
  expect(all.stdout.length - all.stdout.indexOf("\n") - 1).toBe(MB);
  expect(all.stdout).not.toContain("\0");
  expect((await cluster.cli(["logs", id, "--stdout", "--tail=1"])).stdout).not.toContain("[lattice:");

  await cluster.agent("node-1").kill();
  cluster.startAgent("node-1");
  await eventually({ what: "the node is back" }, async () => {
    const again = await cluster.cli(["logs", id, "--stdout"]);
    return again.code === 0 && again.stdout === all.stdout ? true : null;
  });
  await cluster.cli(["cancel", id]);
  await cluster.ends(id);
  expect((await cluster.cli(["logs", id, "--stdout"])).stdout).toBe(all.stdout);
});

test("output written right before the end is trimmed too", async () => {
  const id = await cluster.submit({ entrypoint: `yes '${LINE}' | head -c ${4 * MB}` });
  await cluster.ends(id);
  await eventually({ what: "it is put away, trimmed" }, () =>
    onNode(id).includes("/ended/") && statSync(onNode(id)).blocks * 512 <= MB + SLACK_BYTES ? true : null,
  );
  const { stdout } = await cluster.cli(["logs", id, "--stdout"]);
  expect(stdout.slice(0, stdout.indexOf("\n"))).toContain(`${3 * MB} bytes of earlier output`);
});

// Launches that are refused before anything starts: invalid numbers, words and folders, and allocations that are
// unknown or not running.
import { beforeAll, expect, test } from "vitest";
import { errorStatus } from "../harness/rest.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });
let id = "";
beforeAll(async () => {
  id = await cluster.submit({ nodes: 1, walltime: "1h", command: ["sleep", "3000"] });
  await cluster.reaches(id, ["running"]);
});

const post = (to: string, body: object) => cluster.api("POST", `/allocations/${to}/launches`, { body });

test.each([
  [{ command: ["true"], tasks: 0 }, "tasks: must be at least 1"],
  [{ command: ["true"], tasks: 100_000 }, "the allocation has"],
  [{ command: ["true"], tasks: 5, tasks_per_node: 2 }, "1 node with 2 tasks each take 2"],
  [{ command: [] }, "command: is missing"],
  [{ command: ["true"], nodes: ["elsewhere"] }, "is not a node of the allocation"],
  [{ command: ["true"], workdir: "here" }, "workdir: must be an absolute path"],
  [{ command: ["true"], pmi: "ssh" }, "pmi"],
  [{ command: ["true"], variables: { "a=b": "" } }, "is not a name of a variable"],
])("%j is refused", async (body, detail) => {
  const answer = await post(id, body);
  expect(errorStatus(answer)).toBe(400);
  expect(answer.text).toContain(detail);
});

test("launch refuses an allocation that is unknown or not running", async () => {
  expect(errorStatus(await post("999999", { command: ["true"] }))).toBe(404);
  expect(errorStatus(await post("nonsense", { command: ["true"] }))).toBe(404);
  const over = await cluster.submit({ nodes: 1, command: ["true"] });
  await cluster.ends(over);
  const ended = await post(over, { command: ["true"] });
  expect(errorStatus(ended)).toBe(409);
  expect(ended.text).toContain(`Allocation ${over} is completed, not running.`);
  const cli = await cluster.cli(["launch", "-n", "0", "--alloc", over, "true"]);
  expect(cli.code).toBe(2);
  expect((await cluster.cli(["launch", "true"])).stderr).toContain("the allocation is missing");
});

test("launch input without a launch is refused", async () => {
  const answer = await cluster.api("POST", `/allocations/${id}/launches/none/input`, { body: { end: true } });
  expect(answer.status).toBe(404);
  expect(answer.text).toContain("unknown_launch");
});

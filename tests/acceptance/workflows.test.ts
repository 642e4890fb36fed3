// Task groups, dependencies and DAGs on the built programs: typical use, bad input, and a server killed in between.
// The jobs record what they did.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { AllocationJson, Problem } from "../harness/rest.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 4 });

interface GroupJson extends AllocationJson {
  readonly group?: Readonly<Record<string, number>>;
}
interface DagJson {
  readonly id: string;
  readonly state: string;
  readonly members: readonly { readonly name: string; readonly allocation_id: string; readonly state: string }[];
}

const lines = (file: string): readonly string[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];

async function dagEnds(id: string, withinMs = 120_000): Promise<DagJson> {
  let seen = "";
  try {
    return await eventually({ what: `${id} ends`, withinMs }, async () => {
      const { body, text } = await cluster.api<DagJson>("GET", `/dags/${id}`);
      seen = text;
      return body.state === "running" ? null : body;
    });
  } catch (error) {
    const live = await cluster.allocations("expand=true&state=pending&state=staging&state=running");
    throw new Error(`${String(error)}; last seen: ${seen}; live: ${JSON.stringify(live)}`);
  }
}

const statesOf = (dag: DagJson): Record<string, string> =>
  Object.fromEntries(dag.members.map(({ name, state }) => [name, state]));

/** The workflow of the guide; `train` does what the test requests. */
const guide = (diary: string, train: string): string => `
name: training-pipeline
allocations:
  - name: preprocess
    entrypoint: "echo preprocess >> ${diary}"
    nodes: 2
    walltime: "2h"
  - name: train
    entrypoint: "echo train >> ${diary}; ${train}"
    walltime: "72h"
    depends_on:
      - preprocess: success
  - name: evaluate
    entrypoint: "echo evaluate >> ${diary}"
    depends_on:
      - train: success
  - name: notify-failure
    entrypoint: "echo notify >> ${diary}"
    depends_on:
      - train: failure
`;

describe("the workflow of the guide", () => {
  test("follows success edges and skips the other branch", async () => {
    const diary = cluster.file("guide-success");
    const file = cluster.file("workflow.yaml");
    writeFileSync(file, guide(diary, "true"));
    const submitted = await cluster.cli(["dag", "submit", file]);
    expect(submitted.stderr).toBe("");
    const id = /^Submitted DAG (dag-\d+) with 4 allocations\n$/.exec(submitted.stdout)?.[1] ?? submitted.stdout;
    const dag = await dagEnds(id);
    expect(dag.state).toBe("completed");
    expect(statesOf(dag)).toEqual({
      preprocess: "completed",
      train: "completed",
      evaluate: "completed",
      "notify-failure": "cancelled",
    });
    expect(lines(diary)).toEqual(["preprocess", "preprocess", "train", "evaluate"]);
    const graph = await cluster.cli(["dag", "status", id, "--graph"], { env: { NO_COLOR: "1" } });
    expect(graph.stdout).toBe(
      [
        "preprocess [Completed] → train [Completed] → evaluate [Completed]",
        "                                           ↘ notify-failure [Cancelled] (failure)",
        "",
      ].join("\n"),
    );
    const listed = await cluster.cli(["dag", "list", "--all"]);
    expect(listed.stdout).toMatch(new RegExp(`${id} +training-pipeline +Completed +4/4`));
    const skipped = dag.members.find(({ name }) => name === "notify-failure")?.allocation_id ?? "";
    expect(await cluster.allocation(skipped)).toMatchObject({ reason: "dependency_failed" });
  });

  test("follows failure edges", async () => {
    const diary = cluster.file("guide-failure");
    const file = cluster.file("workflow-2.yaml");
    writeFileSync(file, guide(diary, "exit 3"));
    const { stdout } = await cluster.cli(["dag", "submit", file, "--wait"]);
    const dag = await dagEnds(/dag-\d+/.exec(stdout)?.[0] ?? "");
    expect(statesOf(dag)).toMatchObject({ train: "failed", evaluate: "cancelled", "notify-failure": "completed" });
    expect(lines(diary)).toEqual(["preprocess", "preprocess", "train", "notify"]);
  });

  test("requeues a member that loses its node while its dependents keep waiting", async () => {
    const diary = cluster.file("lost");
    const go = cluster.file("go");
    const members = [
      { name: "a", entrypoint: `echo "a $LATTICE_ATTEMPT" >> ${diary}; while [ ! -e ${go} ]; do sleep 0.1; done` },
      { name: "b", entrypoint: `echo b >> ${diary}`, depends_on: [{ a: "success" }] },
      { name: "c", entrypoint: `echo c >> ${diary}`, depends_on: [{ a: "failure" }] },
    ];
    const { body } = await cluster.api<DagJson>("POST", "/dags", { body: { allocations: members } });
    const [first = "", second = ""] = body.members.map(({ allocation_id }) => allocation_id);
    const [node = ""] = (await cluster.reaches(first, ["running"])).nodes ?? [];
    await eventually({ what: "it has started" }, () => (lines(diary).length === 1 ? true : null));
    await cluster.cli(["node", "report-health", node, "--status=critical", "--component=psu", "--message=gone"]);
    await eventually({ what: "it runs elsewhere" }, () => (lines(diary).length === 2 ? true : null));
    expect((await cluster.allocation(second)).state).toBe("pending");
    expect((await cluster.api<DagJson>("GET", `/dags/${body.id}`)).body.state).toBe("running");
    await cluster.cli(["node", "report-health", node, "--status=ok", "--component=psu"]);
    writeFileSync(go, "");
    const dag = await dagEnds(body.id);
    expect(dag.state).toBe("completed");
    expect(statesOf(dag)).toEqual({ a: "completed", b: "completed", c: "cancelled" });
    expect(lines(diary)).toEqual(["a 1", "a 2", "b"]);
    expect(await cluster.allocation(first)).toMatchObject({ requeues: 1, attempt: 2 });
  });

  test("is cancelled as a whole", async () => {
    const members = [
      { name: "a", entrypoint: "sleep 100" },
      { name: "b", entrypoint: "true", depends_on: [{ a: "any" }] },
    ];
    const { body } = await cluster.api<DagJson>("POST", "/dags", { body: { allocations: members } });
    await cluster.reaches(body.members[0]?.allocation_id ?? "", ["running"]);
    expect((await cluster.cli(["dag", "cancel", body.id])).stdout).toBe(`Cancelled DAG ${body.id}\n`);
    expect(statesOf(await dagEnds(body.id))).toEqual({ a: "cancelled", b: "cancelled" });
  });
});

describe("task groups", () => {
  test("an array of 20 runs at most 3 at a time, each element once with its index", async () => {
    const [diary, go] = [cluster.file("array"), cluster.file("array-go")];
    const line = (word: string): string =>
      `echo "${word} $LATTICE_TASK_GROUP_ID $LATTICE_TASK_INDEX \${INDEX}" >> ${diary}`;
    const { stdout } = await cluster.cli([
      "submit",
      "--task-group=0-19%3",
      "--",
      "sh",
      "-c",
      `${line("start")}; until [ -e ${go} ]; do sleep 0.1; done; ${line("end")}`,
    ]);
    const id = /Submitted allocation (\d+)/.exec(stdout)?.[1] ?? stdout;
    const waiting = await cluster.allocation(`${id}_19`);
    expect(waiting.state).toBe("pending");
    writeFileSync(go, "");
    const ended = (await cluster.ends(id)) as GroupJson;
    expect(ended).toMatchObject({ state: "completed", group: { size: 20, completed: 20 } });
    const words = lines(diary).map((text) => text.split(" "));
    let under = 0;
    for (const [word] of words) {
      under += word === "start" ? 1 : -1;
      expect(under).toBeLessThanOrEqual(3);
    }
    const starts = words.filter(([word]) => word === "start");
    expect(starts.map(([, group, index, put]) => [group, index, put])).toEqual(
      expect.arrayContaining(Array.from({ length: 20 }, (_, n) => [id, `${n}`, `${n}`])),
    );
    expect(starts).toHaveLength(20);
    const row = (await cluster.cli(["status", "--all"])).stdout.split("\n").find((text) => text.startsWith(`${id} `));
    expect(row).toMatch(/Completed +1×20/);
    expect((await cluster.cli(["status", id, "--expand", "-q"])).stdout.trim().split("\n")).toHaveLength(20);
  });

  test("a group with mixed ends fails, and a range of elements can be cancelled", async () => {
    const id = await cluster.submit({ entrypoint: "exit $((LATTICE_TASK_INDEX == 1))", task_group: "0-2" });
    expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "element_failed" });
    const long = await cluster.submit({ entrypoint: "sleep 100", task_group: { start: 0, end: 9, concurrency: 2 } });
    await cluster.reaches(`${long}_0`, ["running"]);
    expect((await cluster.cli(["cancel", `${long}_[0,3-9]`])).stdout).toBe(`Cancelled allocation ${long}_[0,3-9]\n`);
    await cluster.reaches(`${long}_2`, ["running"]);
    expect(await cluster.allocation(`${long}_7`)).toMatchObject({ state: "cancelled" });
    await cluster.cli(["cancel", long]);
    expect(await cluster.ends(long)).toMatchObject({ state: "cancelled", group: { cancelled: 10 } });
  });

  test("corresponding elements of groups of different sizes wait one by one", async () => {
    const diary = cluster.file("counterparts");
    const first = await cluster.submit({
      entrypoint: `echo "a \${INDEX}" >> ${diary}; exit $((LATTICE_TASK_INDEX == 2))`,
      task_group: "0-2",
    });
    const second = await cluster.submit({
      entrypoint: `echo "b \${INDEX}" >> ${diary}`,
      task_group: "0-4",
      depends_on: `${first}:corresponding`,
    });
    expect(await cluster.ends(second)).toMatchObject({ state: "cancelled", group: { completed: 4, cancelled: 1 } });
    const reported = lines(diary);
    for (const n of [0, 1]) expect(reported.indexOf(`a ${n}`)).toBeLessThan(reported.indexOf(`b ${n}`));
    expect(reported).not.toContain("b 2");
    expect(reported).toEqual(expect.arrayContaining(["b 3", "b 4"]));
  });
});

test("a mutex serialises two submissions, and --depends-on waits", async () => {
  const diary = cluster.file("mutex");
  const line = `echo start >> ${diary}; sleep 0.5; echo end >> ${diary}`;
  const ids = await Promise.all([1, 2].map(() => cluster.submit({ entrypoint: line, depends_on: ["disk:mutex"] })));
  const { stdout } = await cluster.cli([
    "submit",
    `--depends-on=${ids[0]}:success,${ids[1]}:any`,
    "--",
    "sh",
    "-c",
    `echo last >> ${diary}`,
  ]);
  const last = /Submitted allocation (\d+)/.exec(stdout)?.[1] ?? stdout;
  expect(await cluster.ends(last)).toMatchObject({ state: "completed" });
  expect(lines(diary)).toEqual(["start", "end", "start", "end", "last"]);
});

describe("bad input is refused by name, and nothing changes", () => {
  const dag = (...allocations: readonly object[]) => ({ path: "/dags", body: { allocations } });
  const one = (body: object) => ({ path: "/allocations", body: { entrypoint: "true", ...body } });
  const member = (name: string, ...after: readonly string[]) => ({ name, entrypoint: "true", depends_on: after });
  test.each([
    ["a cycle", dag(member("a", "b"), member("b", "a")), "allocations", '"a" > "b"'],
    ["a name twice", dag(member("a"), member("a")), "allocations[1].name", '"a"'],
    ["an unknown name", dag(member("a", "x")), "allocations[0].depends_on[0].ref", '"x"'],
    ["a self edge", dag(member("a", "a")), "allocations[0].depends_on[0].ref", "depends on itself"],
    ["an empty DAG", dag(), "allocations", "at least one"],
    ["a bad member", dag(member("a"), { name: "b" }), "allocations[1].entrypoint", "must be given"],
    ["start above end", one({ task_group: "5-2" }), "allocation.task_group.start", "the last, 2"],
    ["step 0", one({ task_group: "0-9:0" }), "allocation.task_group.step", "1 or more"],
    ["an unknown id", one({ depends_on: "999999:success" }), "allocation.depends_on[0].ref", '"999999"'],
    ["an unknown condition", one({ depends_on: "1:maybe" }), "allocation.depends_on[0].condition", "condition"],
  ])("%s", async (_what, { path, body }, field, detail) => {
    const before = await cluster.allocations("expand=true");
    const answer = await cluster.api<Problem & Record<string, unknown>>("POST", path, { body });
    expect(answer.status).toBe(400);
    expect(answer.body.fields?.map((problem) => problem.field)).toContain(field);
    expect(answer.body.detail).toContain(detail);
    expect(await cluster.allocations("expand=true")).toHaveLength(before.length);
  });

  test("unknown ids are 404", async () => {
    for (const path of ["/dags/dag-999999", "/dags/dag-999999/graph", "/dags/nothing", "/allocations/999999_3"]) {
      expect((await cluster.api("GET", path)).status, path).toBe(404);
    }
  });
});

test("kill -9 of the server in the middle of a DAG loses and repeats nothing", async () => {
  const diary = cluster.file("killed");
  const job = (name: string, ...after: readonly string[]) => ({
    name,
    entrypoint: `echo ${name} \${INDEX} >> ${diary}; sleep 0.3`,
    depends_on: after,
  });
  const { body } = await cluster.api<DagJson>("POST", "/dags", {
    body: {
      allocations: [
        job("first"),
        { ...job("sweep", "first"), task_group: "0-11%2" },
        { ...job("twin", "sweep:corresponding"), task_group: "0-11" },
        job("last", "twin"),
        { ...job("never", "sweep:failure") },
      ],
    },
  });
  for (let kills = 1; kills <= 3; kills += 1) {
    await eventually({ what: "some of it has run" }, async () => (lines(diary).length >= kills * 5 ? true : null));
    await cluster.server.kill();
    await cluster.startServer();
  }
  const dag = await dagEnds(body.id, 300_000);
  expect(statesOf(dag)).toEqual({
    first: "completed",
    sweep: "completed",
    twin: "completed",
    last: "completed",
    never: "cancelled",
  });
  const reported = lines(diary);
  expect(reported).toHaveLength(26);
  expect(new Set(reported).size).toBe(26);
  for (let n = 0; n < 12; n += 1) expect(reported.indexOf(`sweep ${n}`)).toBeLessThan(reported.indexOf(`twin ${n}`));
  expect(reported.at(-1)).toContain("last");
});

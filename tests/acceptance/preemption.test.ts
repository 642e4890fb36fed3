// Work of a low class fills every node; work of a high class preempts it and runs, then the victim runs again. The
// jobs record their own events. Once undisturbed, once with the server killed in between, and with invalid input.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });

/** Runs until SIGTERM, records it, and takes a moment to exit; the second attempt ends at once. */
const patient = (diary: string): string =>
  [
    `trap 'echo "term $LATTICE_ALLOC_ID $LATTICE_NODE" >> ${diary}; sleep 0.5; exit 0' TERM`,
    `echo "start $LATTICE_ALLOC_ID $LATTICE_ATTEMPT $LATTICE_NODE" >> ${diary}`,
    `[ "$LATTICE_ATTEMPT" -gt 1 ] && exit 0`,
    "while true; do sleep 0.1; done",
  ].join("\n");

const linesIn = (file: string): readonly string[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];

const low = (diary: string, more: object = {}) => ({
  script: `#!/bin/sh\n${patient(diary)}\n`,
  nodes: 2,
  walltime: "2h",
  preemption_class: 1,
  max_requeue: 0,
  ...more,
});

/** Runs on both nodes, and handles signals there. */
const hears = (diary: string): Promise<true> =>
  eventually({ what: "it has started on both nodes" }, () => (linesIn(diary).length === 2 ? true : null));

interface Preempted {
  readonly preemptions?: number;
  readonly message?: string;
}

test("a higher class preempts a lower one, which runs again without counting a requeue", async () => {
  const diary = cluster.file("diary");
  const victim = await cluster.submit(low(diary));
  await cluster.reaches(victim, ["running"]);
  await hears(diary);
  const hold = cluster.file("hold");
  const urgent = await cluster.submit({
    entrypoint: `while [ ! -e ${hold} ]; do sleep 0.1; done`,
    nodes: 1,
    walltime: "1h",
    preemption_class: 8,
  });
  await cluster.reaches(urgent, ["running"]);

  const waiting = (await cluster.allocation(victim)) as Awaited<ReturnType<typeof cluster.allocation>> & Preempted;
  expect(waiting).toMatchObject({ state: "pending", reason: "preempted", preemptions: 1, attempt: 1 });
  expect(waiting.requeues ?? 0).toBe(0);
  expect(waiting.message).toContain(`stopped for allocation ${urgent} of class 8 (priority)`);
  expect(linesIn(diary).filter((line) => line.startsWith(`term ${victim}`))).toHaveLength(2);

  const events = await cluster.cli(["status", victim]);
  expect(events.stdout).toMatch(/Preemptions:?\s+1/);
  const metrics = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
  expect(metrics).toContain('lattice_scheduling_preemptions_total{vcluster="hpc-batch",reason="priority"} 1');

  await cluster.cli(["submit", "--", "touch", hold]);
  await cluster.ends(urgent);
  const ended = await cluster.ends(victim);
  expect(ended).toMatchObject({ state: "completed", attempt: 2, requeues: 0 });
  expect(ended.submitted_at).toBe(waiting.submitted_at);
});

test("equal classes and free nodes cause no preemption, and --no-preempt protects", async () => {
  const diary = cluster.file("shielded");
  const shielded = await cluster.cli([
    "submit",
    "--quiet",
    "--no-preempt",
    "--preemption-class=1",
    "--nodes=2",
    "--walltime=2h",
    "--",
    "sh",
    "-c",
    `echo up >> ${diary}; sleep 600`,
  ]);
  const id = shielded.stdout.trim();
  await cluster.reaches(id, ["running"]);
  const urgent = await cluster.submit({ entrypoint: "true", walltime: "10m", preemption_class: 8 });
  await cluster.reaches(urgent, ["pending"]);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await cluster.allocation(id)).toMatchObject({ state: "running", attempt: 1 });
  expect((await cluster.allocation(urgent)).state).toBe("pending");
  await cluster.cli(["cancel", id]);
  await cluster.ends(urgent);
});

test("preempted work without requeue fails with the reason preempted", async () => {
  const diary = cluster.file("never");
  const victim = await cluster.submit(low(diary, { requeue: false }));
  await cluster.reaches(victim, ["running"]);
  await hears(diary);
  const urgent = await cluster.submit({ entrypoint: "true", nodes: 2, walltime: "10m", preemption_class: 8 });
  expect(await cluster.ends(victim)).toMatchObject({ state: "failed", reason: "preempted" });
  expect(await cluster.ends(urgent)).toMatchObject({ state: "completed" });
});

test("a server killed during a preemption completes it after its restart", async () => {
  const diary = cluster.file("killed");
  const victim = await cluster.submit(low(diary));
  await cluster.reaches(victim, ["running"]);
  await hears(diary);
  const urgent = await cluster.submit({
    entrypoint: `echo ran >> ${diary}`,
    nodes: 2,
    walltime: "10m",
    preemption_class: 8,
  });
  // The first sign that the decision is in the log.
  await eventually({ what: "the victim waits", everyMs: 5 }, async () =>
    (await cluster.allocation(victim)).state === "pending" ? true : null,
  );
  await cluster.server.kill();
  await cluster.startServer();
  expect(await cluster.ends(urgent)).toMatchObject({ state: "completed", attempt: 1 });
  expect(await cluster.ends(victim)).toMatchObject({ state: "completed", attempt: 2, requeues: 0 });
  const lines = linesIn(diary);
  expect(lines.filter((line) => line.startsWith(`start ${victim} 1`))).toHaveLength(2);
  expect(lines.filter((line) => line.startsWith(`start ${victim} 2`))).toHaveLength(2);
  expect(lines.indexOf("ran")).toBeLessThan(lines.findIndex((line) => line.startsWith(`start ${victim} 2`)));
});

test("sharing settings are shown and changed, and bad values are refused by field", async () => {
  const shown = await cluster.api("GET", "/vclusters/service");
  expect(shown.body).toMatchObject({ preempts: true, preemptible: "borrowed", borrows: true });
  expect(shown.body).not.toHaveProperty("lending");
  const update = await cluster.cli([
    "admin",
    "vcluster",
    "update",
    "service",
    "--lends",
    "--keep-nodes=2",
    "--lend-max-time=2h",
  ]);
  expect(update.stdout).toContain("class 4 and below, up to 02:00:00; keeps 2, reclaims within 30 s");
  const off = await cluster.cli(["admin", "vcluster", "update", "service", "--no-lends", "--preemptible=never"]);
  expect(off.stdout).toMatch(/Lends nodes:?\s+no/);
  const near = await cluster.cli(["admin", "vcluster", "update", "service", "--near-completion-threshold=10m"]);
  expect(near.stdout).toContain("not within 00:10:00 of the walltime");

  const most = await cluster.cli(["admin", "vcluster", "update", "service", "--max-victims=16"]);
  expect(most.stdout).toContain("lower classes, at most 16 for one");

  for (const [change, field] of [
    [{ max_victims: 65 }, "max_victims"],
    [{ near_completion_threshold_seconds: 86_401 }, "near_completion_threshold_seconds"],
    [{ lending: { max_class: 11 } }, "lending.max_class"],
    [{ lending: { return_grace_seconds: 0 } }, "lending.return_grace_seconds"],
    [{ lending: { keep_nodes: 2_000_000 } }, "lending.keep_nodes"],
  ] as const) {
    const answer = await cluster.api("PATCH", "/vclusters/service", { body: change });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toContain(field);
  }
  const sensitive = { id: "clinic", scheduler: "sensitive_reservation", lending: {} };
  const refused = await cluster.api("POST", "/vclusters", { body: sensitive });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain("is not for sensitive work");
  const word = await cluster.api("PATCH", "/vclusters/service", { body: { preemptible: "sometimes" } });
  expect(word.status).toBe(400);
  const classes = await cluster.api("POST", "/allocations", { body: { entrypoint: "true", preemption_class: 11 } });
  expect(classes.status).toBe(400);
  expect((await cluster.api("GET", "/vclusters/service")).body).not.toHaveProperty("lending");
});

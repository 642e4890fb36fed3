// The limit on launches of one user: what counts, and when a place is free again.
import { EventEmitter } from "node:events";
import { create } from "@bufbuild/protobuf";
import type { View } from "@lattice/core";
import { ProblemError, pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import type { AgentHub } from "../../../src/nodes/agents/hub.ts";
import type { FabricManager } from "../../../src/nodes/fabric/credentials.ts";
import { Launches, type RunTasksCall } from "../../../src/nodes/tasks/launches.ts";

const USERS: Readonly<Record<string, string>> = { 7: "ada", 8: "ada", 9: "bob" };
const PER_USER = 3;

const allocation = (id: string) => ({
  id,
  user: USERS[id],
  attempt: 1,
  network: null,
  spec: { resources: { tasksPerNode: 1 } },
  phase: { kind: "running", nodes: ["n1"], progress: [{ state: "running" }] },
});

function leader(issue?: () => Promise<{ serviceId: string }>) {
  const refusals: string[] = [];
  const view = { allocation, node: () => undefined } as unknown as View;
  const launches = new Launches({
    hub: { connected: () => true, send: () => true, peer: () => "" } as unknown as AgentHub,
    clock: systemClock,
    view: () => view,
    fabric: issue === undefined ? null : ({ issue, revoke: async () => undefined } as unknown as FabricManager),
    starNodes: () => 128,
    servers: () => [],
    ended: () => undefined,
    adopted: () => undefined,
    perUser: () => PER_USER,
    refused: () => void refusals.push("refused"),
  });
  const open = (id: string) =>
    launches.launch(create(pb.LaunchTasksRequestSchema, { allocationId: id, command: ["true"] }), {
      signal: new AbortController().signal,
    });
  return {
    launches,
    refusals,
    open,
    /** Starts a launch; the returned function is called when its tasks have ended. */
    async start(id: string): Promise<() => void> {
      const { value } = await open(id).next();
      const launchId = value?.event.case === "started" ? value.event.value.launchId : "";
      expect(launchId).toContain(`${id}.1.`);
      const message = create(pb.ControlLaunchRequestSchema, { allocationId: id, launchId, finished: true });
      return () => launches.control(message);
    },
    refusal: async (id: string) => {
      const error: unknown = await open(id)
        .next()
        .then(
          () => null,
          (reason: unknown) => reason,
        );
      return error instanceof ProblemError ? error.problem : error;
    },
  };
}

test("a user at the limit is refused, others are not, and an end frees a place", async () => {
  const { start, refusal, refusals } = leader();
  const [end] = [await start("7"), await start("7"), await start("8")];
  for (const id of ["7", "8"])
    expect(await refusal(id)).toMatchObject({
      code: "rate_limited",
      status: 429,
      detail: "ada has 3 running launches, and 3 is the most for a user.",
      hint: expect.stringContaining("rate_limits.launch_max_concurrent"),
    });
  expect(refusals).toHaveLength(2);
  await start("9");
  end();
  await start("8");
  expect(await refusal("8")).toMatchObject({ code: "rate_limited" });
});

test("launches that wait for their network credentials count, and a start that fails does not", async () => {
  const waiting: ((service: { serviceId: string } | null) => void)[] = [];
  const { open, refusal, start } = leader(
    () =>
      new Promise((resolve, reject) => {
        waiting.push((service) => (service === null ? reject(new Error("no credentials")) : resolve(service)));
      }),
  );
  const starting = [open("7").next(), open("7").next(), open("8").next()];
  expect(await refusal("7")).toMatchObject({ code: "rate_limited" });
  waiting.shift()?.(null);
  await expect(starting[0]).rejects.toThrow("no credentials");
  const another = start("7");
  for (const issue of waiting) issue({ serviceId: "s" });
  await another;
  expect(await refusal("7")).toMatchObject({ code: "rate_limited" });
});

test("a leader counts the launches that it adopts and refuses none of them; one that leaves counts none", async () => {
  const { launches, refusal, start } = leader();
  for (let n = 0; n < PER_USER + 1; n += 1) {
    const call = Object.assign(new EventEmitter(), { write: () => true, end: () => undefined });
    launches.receive(call as unknown as RunTasksCall, () => null);
    const layout = [create(pb.NodeTasksSchema, { node: "n1", tasks: 1 })];
    const ticket = create(pb.LaunchTicketSchema, { allocationId: "7", attempt: 1, layout });
    const value = create(pb.TasksHelloSchema, { launchId: `7.1.x.${n}`, nodeId: "n1", ticket, repeats: true });
    call.emit("data", create(pb.TasksReportSchema, { report: { case: "hello", value } }));
  }
  expect(launches.count).toBe(PER_USER + 1);
  expect(await refusal("8")).toMatchObject({ code: "rate_limited" });
  launches.leave();
  for (let n = 0; n < PER_USER; n += 1) await start("8");
});

// A cluster of two whose new member is lost right after its vote has no majority: the other server continues alone by one
// command, without losing an entry. Where others could have a majority, the command is refused.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { Quorum } from "../harness/quorum.ts";

let quorum: Quorum;
beforeAll(async () => {
  quorum = await Quorum.start({ servers: 1, nodes: 1, spares: 2, leaseSeconds: 6 });
});
afterAll(() => quorum?.close());

const members = async (): Promise<number> =>
  (await quorum.api<{ readonly members: unknown[] }>(1, "GET", "/raft/status")).body.members.length;

test("the first server continues alone after the second is lost, and takes in another", async () => {
  const running = await quorum.submit(1, { entrypoint: "sleep 600", nodes: 1 });
  await quorum.reaches(1, running, "running");
  await quorum.startServer(2, ["--join", quorum.grpc(1)]);
  const acknowledged = [running];
  for (let n = 0; n < 20; n += 1) acknowledged.push(await quorum.submit(1, { entrypoint: "true", hold: true }));
  await quorum.lose(2);
  quorum.wipe(2);
  await expect(quorum.submit(1, { entrypoint: "true" })).rejects.toThrow(/50[34]/);

  await quorum.server(1).stop();
  await quorum.startServer(1, ["--alone"]);
  expect(await members()).toBe(1);
  for (const id of acknowledged) expect(await quorum.state(1, id), id).toMatch(/pending|running/);
  expect(await quorum.state(1, running)).toBe("running");
  await quorum.submit(1, { entrypoint: "true" });

  // Later starts need no option.
  await quorum.server(1).stop();
  await quorum.startServer(1);
  await quorum.startServer(2, ["--join", quorum.grpc(1)]);
  await eventually({ what: "there are two members again" }, async () => ((await members()) === 2 ? true : null));
  for (const id of acknowledged) expect(await quorum.state(2, id), id).toMatch(/pending|running/);
});

test("a member of three is refused, and starts as usual afterwards", async () => {
  await quorum.startServer(3, ["--join", quorum.grpc(1)]);
  await quorum.server(1).stop();
  await expect(quorum.startServer(1, ["--alone"])).rejects.toThrow();
  const log = readFileSync(quorum.server(1).logFile, "utf8");
  expect(log).toContain("this cluster has 3 members, and the others may continue without this one");
  await quorum.startServer(1);
  expect(await members()).toBe(3);
});

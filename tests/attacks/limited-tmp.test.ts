// A job that writes to its own /tmp without end, on a node that limits it (--private-tmp-size): it gets an error, and no
// byte of it is on the file system of the agent.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster({ agentArgs: ["--private-tmp-size", "4MB"] });

test("a job cannot fill the data folder by its /tmp", async () => {
  const script = `touch /tmp/mine; head -c 100000000 /dev/zero >/tmp/flood || echo full
stat -c %s /tmp/flood; stat -c %a /tmp; exec sleep 600`;
  const id = await secured.submit(mallory, { command: ["/bin/sh", "-c", script], workdir: "/" });
  await secured.reaches(id, ["running"]);
  const launched = await secured.as(mallory, ["launch", `--alloc=${id}`, "-n1", "--", "ls", "/tmp/mine"]);
  expect(launched, launched.stderr).toMatchObject({ code: 0, stdout: "/tmp/mine\n" });
  const [said, size, mode] = await eventually({ what: "the job tells what it could write" }, async () => {
    const lines = (await secured.logs(mallory, id)).split("\n").filter((line) => !line.startsWith("head:"));
    return lines.length > 3 ? lines : null;
  });
  expect([said, mode]).toEqual(["full", "1777"]);
  expect(Number(size)).toBeLessThanOrEqual(4_001_792);
  expect(Number(size)).toBeGreaterThan(3_000_000);
  expect(existsSync(join(secured.cluster.dir, "agent-n1", "attempts", `${id}.1`, "private"))).toBe(false);
  await secured.as(mallory, ["cancel", id]);
  await secured.ends(id);
});

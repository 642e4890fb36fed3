// Attacks by launches of tasks (findings 3, 6 and 10b of the review): the shepherd of a launch is root's, and the user
// chooses its working directory, runs programs in the place of its helpers, and writes to its PMI server.
import { readdirSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const bob = useAccount("b");
const NODES = ["n1", "n2", "n3"];
const secured = useSecuredCluster({ nodes: NODES.length });
let job = "";

beforeAll(async () => {
  bob.run("mkdir -m 755 ~/p; echo secret >~/p/s; chmod 644 ~/p/s");
  job = await secured.submit(mallory, { command: ["/bin/sleep", "600"] });
  await secured.reaches(job, ["running"]);
});

const launch = (...words: readonly string[]) => secured.as(mallory, ["launch", `--alloc=${job}`, "-n1", ...words]);

test("tasks do not begin in a folder that only root can reach", async () => {
  const closed = await launch(`--workdir=${bob.home}/p`, "cat", "s");
  expect(closed.stdout).not.toContain("secret");
  expect(closed.code).toBe(126);
  expect(closed.stderr).toContain(`the working directory ${bob.home}/p does not exist or is not accessible`);
});

test("a launch does not tell which files and folders exist where only root can look", async () => {
  const [real, absent] = [
    await launch(`--workdir=${bob.home}/p`, "true"),
    await launch(`--workdir=${bob.home}/q`, "true"),
  ];
  expect(absent.stderr.replaceAll("/q", "/p")).toBe(real.stderr);
  const [program, none] = [await launch(`${bob.home}/p/s`), await launch(`${bob.home}/p/t`)];
  expect(none.code).toBe(program.code);
});

test("tasks begin in the folder of their user", async () => {
  mallory.run("mkdir -m 700 ~/own; echo mine >~/own/s");
  const own = await launch(`--workdir=${mallory.home}/own`, "cat", "s");
  expect(own).toMatchObject({ code: 0, stdout: "mine\n" });
  const missing = await launch("no-such-program");
  expect(missing.code).toBe(127);
  expect(missing.stderr).toContain("command not found: no-such-program");
});

test("tasks begin in the folder that their job is in, wherever its path leads by now", async () => {
  mallory.run("mkdir -m 700 ~/w");
  const id = await secured.submit(mallory, { command: ["/bin/sh", "-c", "cd ~/w; exec sleep 600"], workdir: "" });
  await secured.reaches(id, ["running"]);
  const where = () => secured.as(mallory, ["launch", `--alloc=${id}`, "-n1", "/bin/pwd", "-P"]);
  await eventually({ what: "the job is in its folder" }, async () =>
    (await where()).stdout === `${mallory.home}/w\n` ? true : null,
  );
  mallory.run(`mv ~/w ~/moved; ln -s ${bob.home}/p ~/w`);
  expect(await where()).toMatchObject({ code: 0, stdout: `${mallory.home}/moved\n` });
  await secured.as(mallory, ["cancel", id]);
  await secured.ends(id);
});

test("a PMIx helper replaced by the user names no folder that root removes", async () => {
  mallory.run(`printf '#!/bin/sh\necho folder ${secured.victim}\n' >~/fake; chmod 755 ~/fake; chmod 711 ~`);
  const script = `mount --bind ${mallory.home}/fake /usr/bin/setpriv; exec sleep 600`;
  const id = await secured.submit(mallory, { command: ["unshare", "-Urm", "/bin/sh", "-c", script] });
  await secured.reaches(id, ["running"]);
  const launched = await secured.as(mallory, ["launch", `--alloc=${id}`, "--pmi=pmix", "-n1", "true"]);
  expect(launched.code).not.toBe(0);
  expect(readdirSync(secured.victim)).toEqual(["precious"]);
  await secured.as(mallory, ["cancel", id]);
  await secured.ends(id);
});

/** A PMI client that writes its values faster than anything may keep them. */
const FLOOD = `import os
f = os.fdopen(int(os.environ["PMI_FD"]), "r+b", buffering=0)
def say(text):
    f.write(text.encode() + b"\\n")
    return f.readline()
say("cmd=init pmi_version=1 pmi_subversion=1")
answers = set()
for i in range(COUNT):
    answers.add(say("cmd=put kvsname=x key=k%d value=%s" % (i, "A" * SIZE)))
print(answers)
say("cmd=barrier_in")
`;
const flood = (count: number, size: number): string =>
  FLOOD.replace("COUNT", String(count)).replace("SIZE", String(size));

test("hundreds of megabytes of PMI values end the launch, and the agents stay", async () => {
  const pids = NODES.map((node) => secured.agent(node).pid);
  const id = await secured.submit(mallory, { command: ["/bin/sleep", "600"], nodes: 2 });
  await secured.reaches(id, ["running"]);
  const launchBoth = (script: string) =>
    secured.as(mallory, ["launch", `--alloc=${id}`, "--tasks-per-node=1", "python3", "-c", script]);
  const long = await launchBoth(flood(300, 1_000_000));
  expect(long.stdout).toContain("rc=-1 msg=key_or_value_too_long");
  const many = await launchBoth(flood(300_000, 1_000));
  expect(many.code).not.toBe(0);
  expect(many.stderr).toContain("the ranks of this node put more than 6 MiB before a fence");
  const short = await launchBoth(flood(10, 1_000));
  expect(short.stdout).toContain("success");
  expect(NODES.map((node) => secured.agent(node).pid)).toEqual(pids);
  for (const node of NODES) expect(secured.agent(node).isRunning()).toBe(true);
});

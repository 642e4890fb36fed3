// Finding 16: administrators run tasks, with a terminal, as the users of a tenant. Terminals are their owners' alone, and
// so are tasks: an administrator may end the work of others, but runs nothing as them.
import { expect, test } from "vitest";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const bob = useAccount("b");
const secured = useSecuredCluster();
const ADMINISTRATORS = {
  "the tenant's administrator": ["--tenant", "default", "--scope", "tenant:admin"],
  "an administrator of the cluster": ["--tenant", "default", "--scope", "admin"],
};

test("no administrator launches tasks in the work of another user, and its owner does", async () => {
  const id = await secured.submit(bob, { command: ["/bin/sleep", "600"] });
  await secured.reaches(id, ["running"]);
  const words = ["launch", `--alloc=${id}`, "-n", "1", "--", "/usr/bin/id", "-un"];
  for (const [name, flags] of Object.entries(ADMINISTRATORS)) {
    const { code, stdout, stderr } = await secured.as("chief", words, flags);
    expect([name, code === 0, stdout.includes(bob.name)]).toEqual([name, false, false]);
    expect(stderr).toMatch(/not allowed|may not|forbidden|permission/i);
    const [option, ...rest] = words;
    for (const terminal of [
      [option ?? "", "--pty", ...rest],
      ["attach", id, "--command=id -un"],
    ]) {
      const shown = await secured.as("chief", terminal, flags);
      expect([name, shown.code === 0, shown.stdout.includes(bob.name)], shown.stderr).toEqual([name, false, false]);
    }
  }
  const own = await secured.as(bob, words);
  expect([own.code, own.stdout.trim()], own.stderr).toEqual([0, bob.name]);
  const ended = await secured.as("chief", ["cancel", id], ADMINISTRATORS["the tenant's administrator"]);
  expect(ended.code, ended.stderr).toBe(0);
});

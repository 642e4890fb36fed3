// A fork bomb (point 5 of the issue): without a limit of processes one job takes the whole table of the kernel.
import { afterAll, expect, test } from "vitest";
import { startRegistry } from "../harness/registry.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const registry = await startRegistry();
const secured = useSecuredCluster({
  agentArgs: ["--max-pids", "200", "--insecure-registry", registry.address, "--cache-min-free", "0"],
});
afterAll(() => registry.close());

const BOMB = `import os, sys, time
made = 0
try:
    while made < 2000:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        made += 1
except OSError:
    print("made", made, flush=True)
    sys.exit(3)
print("made", made, flush=True)
`;

test("a fork bomb stops at the limit of its allocation, and the user learns why", async () => {
  const id = await secured.submit(mallory, { command: ["python3", "-c", BOMB] });
  const ended = await secured.ends(id);
  const made = Number(/made (\d+)/.exec(await secured.logs(mallory, id))?.[1]);
  expect(made).toBeGreaterThan(100);
  expect(made).toBeLessThanOrEqual(200);
  expect(ended.state).toBe("failed");
  expect(ended.message ?? "").toContain("it reached its limit of 200 processes and threads");
});

test("a fork bomb in a container stops at the same limit", async () => {
  const image = registry.push("bomb", []);
  const bomb = "n=0; while [ $n -lt 2000 ]; do /bin/sleep 600 & n=$((n + 1)); echo made $n; done";
  const id = await secured.submit(mallory, { image, command: ["/bin/sh", "-c", bomb], workdir: "/" });
  expect((await secured.ends(id)).state).toBe("failed");
  const made = [...(await secured.logs(mallory, id)).matchAll(/made (\d+)/g)].map(([, count]) => Number(count));
  expect(Math.max(...made)).toBeGreaterThan(50);
  expect(Math.max(...made)).toBeLessThanOrEqual(200);
});

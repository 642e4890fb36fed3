// A fork bomb (point 5 of the issue): without a limit of processes one job takes the whole table of the kernel.
import { expect, test } from "vitest";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster({ agentArgs: ["--max-pids", "200"] });

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

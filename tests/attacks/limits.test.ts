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

/** Attaches to every process of its user that is not its own child: one outside of the job would take it out of the limits. */
const TRACER = `import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
ATTACH, DETACH = 16, 17
seen = {}
end = time.monotonic() + 4
while time.monotonic() < end:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = open("/proc/%s/status" % pid).read()
        except OSError:
            continue
        name = text.split()[1]
        if "Uid:\\t%d" % os.getuid() not in text or int(pid) == os.getpid():
            continue
        traced = libc.ptrace(ATTACH, int(pid), None, None) == 0
        seen[name] = seen.get(name, False) or traced
        if traced:
            os.waitpid(int(pid), 0x40000000)
            libc.ptrace(DETACH, int(pid), None, None)
print("saw", sorted(seen.items()), flush=True)
`;

test("no process that acts beside the job can be traced by the job", async () => {
  mallory.run("mkdir -m 700 ~/out");
  const output = { file: `${mallory.home}/out/text`, error_file: `${mallory.home}/out/errors` };
  const id = await secured.submit(mallory, { command: ["python3", "-c", TRACER], output });
  expect((await secured.ends(id)).state).toBe("completed");
  // Processes of the job before may still be ending.
  const seen = mallory.run("cat ~/out/text");
  expect(seen).toContain("('lattice-files', False)");
  expect(seen).not.toContain("True");
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

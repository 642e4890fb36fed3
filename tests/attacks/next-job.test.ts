// Leftovers of a job on its node: nothing reaches the jobs of others that follow it, or that run beside it. Wrappers, their sessions and
// control groups serve one attempt after the other (docs/decisions/0020), and all processes of an agent inherit its keys.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Account, useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const [KEYCTL_CALL, ADD_KEY_CALL] = [250, 248];
const [JOIN_SESSION_KEYRING, SEARCH, SESSION_KEYRING] = [1, 10, -3];

const mallory = useAccount("m");
const bob = useAccount("b");
/** The agent has a session keyring, as a service manager makes it. */
const WITH_KEYRING = `import ctypes, os, sys
if ctypes.CDLL(None).syscall(${KEYCTL_CALL}, ${JOIN_SESSION_KEYRING}, None) > 0: os.execv(sys.argv[1], sys.argv[1:])`;
const secured = useSecuredCluster({ agentPrefix: ["python3", "-c", WITH_KEYRING] });

/** By number: the programs for keys and for System V memory may be missing. */
const CALLS = `import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(name, *words):
    found = libc.syscall(*words)
    print(name, "yes" if found >= 0 else ctypes.get_errno(), flush=True)
    return found
SESSION = ctypes.c_long(${SESSION_KEYRING})
`;
const PLANT = `${CALLS}call("planted", ${ADD_KEY_CALL}, b"user", b"lattice-attack", b"mallorys", ctypes.c_size_t(8), SESSION)`;
const LOOK = `${CALLS}call("found", ${KEYCTL_CALL}, ${SEARCH}, SESSION, b"user", b"lattice-attack", 0)`;
const NO_KEY = 126;

async function runs(user: Account, script: string): Promise<{ id: string; text: string }> {
  const id = await secured.submit(user, { command: ["python3", "-c", script], workdir: "/" });
  expect((await secured.ends(id)).state).toBe("completed");
  return { id, text: await secured.logs(user, id) };
}

function wrapperOf(id: string): string {
  const agent = join(secured.cluster.dir, "agent-n1");
  for (const folder of ["attempts", "ended"]) {
    try {
      return readFileSync(join(agent, folder, `${id}.1`, "pid"), "utf8");
    } catch {
      // It is in the other folder.
    }
  }
  return "";
}

test("a key that a job, its terminal or its tasks add to their session is not in that of others", async () => {
  const planted = await runs(mallory, `${PLANT}\n${LOOK}`);
  expect(planted.text).toBe("planted yes\nfound yes\n");
  const running = await secured.submit(mallory, { command: ["sleep", "600"], workdir: "/" });
  await secured.reaches(running, ["running"]);
  const task = await secured.as(mallory, ["launch", `--alloc=${running}`, "-n1", "--", "python3", "-c", PLANT]);
  expect(task, task.stderr).toMatchObject({ code: 0, stdout: "planted yes\n" });
  const line = `python3 -c '${PLANT}'`;
  const terminal = await secured.as(mallory, ["attach", running, `--command=${line}`]);
  expect(terminal.stdout, terminal.stderr).toContain("planted yes");
  await secured.as(mallory, ["cancel", running]);
  await secured.ends(running);
  expect((await runs(bob, LOOK)).text).toBe(`found ${NO_KEY}\n`);
});

/** The kernel refuses a change within a tenth of a second of another one on the machine. */
const LOWER = `import time
for _ in range(100):
    try:
        with open("/proc/self/autogroup", "w") as file: file.write("19")
        break
    except OSError:
        time.sleep(0.1)`;

test("a job that lowers the priority of its session does not lower that of the next", async () => {
  const show = 'print(open("/proc/self/autogroup").read().strip())';
  const lower = await runs(mallory, `${LOWER}\n${show}`);
  expect(lower.text).toContain("nice 19");
  const next = await runs(bob, show);
  expect(wrapperOf(next.id)).toBe(wrapperOf(lower.id));
  expect(next.text).toContain("nice 0");
});

test("System V memory ends with its job", async () => {
  const [SHMGET, SHMAT] = [29, 30];
  const KEY = 0x1a77;
  const make = `${CALLS}part = call("made", ${SHMGET}, ${KEY}, ctypes.c_size_t(1 << 20), 0o1666)\ncall("held", ${SHMAT}, part, 0, 0)`;
  expect((await runs(mallory, make)).text).toBe("made yes\nheld yes\n");
  expect((await runs(bob, `${CALLS}call("found", ${SHMGET}, ${KEY}, ctypes.c_size_t(0), 0)`)).text).toBe("found 2\n");
});

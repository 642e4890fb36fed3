// The output of the Slurm commands, line by line as Slurm prints it, against a scripted server.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SLURM_COMMANDS } from "../../src/commands/compat/launcher.ts";
import { runSlurm } from "../../src/slurm/program.ts";
import { useScripted } from "../scripted.ts";

const rig = useScripted();
const LIVE = "state=pending&state=staging&state=running&state=checkpointing&state=suspended";

const job = (id: string, name: string, more: object = {}) => ({
  id,
  state: "pending",
  user: "root",
  spec: { name, vcluster: "debug", tenant: "default", resources: { nodes: 1 } },
  ...more,
});

/** A fixed clock, so that run times are exact on a slow machine. */
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-15T12:00:00Z") }));
afterEach(() => void vi.useRealTimers());

function answerWithQueue(): void {
  const array = job("46", "arr.sh", {
    group: { range: { start: 0, end: 3, concurrency: 2 }, size: 4, waiting: 2, waiting_indexes: "2-3", pending: 2 },
  });
  const elements = [job("46_1", "arr.sh"), job("46_0", "arr.sh")];
  const unmet_dependencies = [{ ref: "44", condition: "success" }];
  const whole = [
    job("48", "wrap", { unmet_dependencies }),
    array,
    job("45", "a-long-name", { pending_reason_codes: ["priority"] }),
    job("44", "demo", { spec: { name: "demo", vcluster: "debug", resources: { nodes: 2 } } }),
    job("43", "run", {
      state: "running",
      nodes: ["n1", "n2", "n4"],
      started_at: new Date(Date.now() - 65_050).toISOString(),
      spec: { name: "run", vcluster: "debug", lifecycle: { walltime_seconds: 7200 } },
    }),
  ];
  rig.answers = {
    [`GET /api/v1/allocations?${LIVE}&page_size=500`]: [200, { allocations: whole }],
    [`GET /api/v1/allocations?${LIVE}&expand=true&page_size=500`]: [
      200,
      { allocations: [...whole.filter(({ id }) => id !== "46"), ...elements] },
    ],
  };
}

test("squeue shows elements that are held one by one in their own rows", async () => {
  const range = { start: 0, end: 9, concurrency: 2 };
  const group = { range, size: 10, waiting_indexes: "2-9", user_hold_indexes: "4-5", admin_hold_indexes: "8" };
  const list = (query: string) => `GET /api/v1/allocations?${LIVE}&${query}page_size=500`;
  const elements = [job("46_1", "arr.sh", { hold: { kind: "user" } }), job("46_0", "arr.sh")];
  const answerFor = (array: object): void => {
    rig.answers = {
      [list("")]: [200, { allocations: [array] }],
      [list("expand=true&")]: [200, { allocations: elements }],
    };
  };
  answerFor(job("46", "arr.sh", { group }));
  expect(await runSlurm("squeue", ["-h", "-o", "%i %r"])).toBe(0);
  expect(rig.out.trimEnd().split("\n")).toEqual([
    "46_[0,2-3,6-7,9%2] None",
    "46_1 JobHeldUser",
    "46_4 JobHeldUser",
    "46_5 JobHeldUser",
    "46_8 JobHeldAdmin",
  ]);
  rig.out = "";
  expect(await runSlurm("squeue", ["-h", "-r", "-o", "%i %r"])).toBe(0);
  expect(rig.out.trimEnd().split("\n").slice(-5)).toEqual([
    "46_9 JobArrayTaskLimit",
    "46_1 JobHeldUser",
    "46_4 JobHeldUser",
    "46_5 JobHeldUser",
    "46_8 JobHeldAdmin",
  ]);
  rig.out = "";
  // An array that is held as a whole is one row.
  const whole = { group: { range, size: 10, waiting_indexes: "2-9" }, hold: { kind: "user" } };
  elements[1] = job("46_0", "arr.sh", { hold: { kind: "user" } });
  answerFor(job("46", "arr.sh", whole));
  expect(await runSlurm("squeue", ["-h", "-o", "%i %r"])).toBe(0);
  expect(rig.out.trimEnd().split("\n")).toEqual(["46_[0-9%2] JobHeldUser"]);
});

test("squeue prints the default table", async () => {
  answerWithQueue();
  expect(await runSlurm("squeue", [])).toBe(0);
  expect(rig.err).toBe("");
  expect(rig.out.split("\n")).toEqual([
    "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)",
    "                44     debug     demo     root PD       0:00      2 (None)",
    "                45     debug a-long-n     root PD       0:00      1 (Priority)",
    "        46_[0-3%2]     debug   arr.sh     root PD       0:00      1 (None)",
    "                48     debug     wrap     root PD       0:00      1 (Dependency)",
    "                43     debug      run     root  R       1:05      3 n[1-2,4]",
    "",
  ]);
});

test("squeue -l starts with the date and cuts headers, not times", async () => {
  answerWithQueue();
  expect(await runSlurm("squeue", ["-l", "-t", "R"])).toBe(0);
  expect(rig.out.split("\n").slice(1)).toEqual([
    "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES NODELIST(REASON)",
    "                43     debug      run     root  RUNNING       1:05   2:00:00      3 n[1-2,4]",
    "",
  ]);
  rig.out = "";
  await runSlurm("squeue", ["-l", "-h", "-t", "S"]);
  expect(rig.out).toBe("");
});

test("squeue --json has Slurm's field names", async () => {
  answerWithQueue();
  expect(await runSlurm("squeue", ["--json"])).toBe(0);
  const { jobs, errors } = JSON.parse(rig.out) as { jobs: Record<string, unknown>[]; errors: unknown[] };
  expect([errors, jobs.map((one) => one.job_id)]).toEqual([[], [44, 45, 46, 48, 43]]);
  expect(jobs[2]).toMatchObject({ array_job_id: 46, array_task_id: null, array_task_string: "0-3%2" });
  expect(jobs[3]).toMatchObject({
    job_state: "PENDING",
    state_reason: "Dependency",
    dependency: expect.stringContaining("44"),
  });
  const { start_time: start, ...running } = jobs[4] ?? {};
  expect(running).toMatchObject({
    name: "run",
    user_name: "root",
    partition: "debug",
    job_state: "RUNNING",
    node_count: 3,
    nodes: "n[1-2,4]",
    batch_host: "n1",
    time_limit: 120,
    end_time: Number(start) + 7_200,
  });
});

test("squeue supports formats, filters, sorting and unfolded arrays", async () => {
  answerWithQueue();
  expect(await runSlurm("squeue", ["-h", "-t", "R", "-o", "%i|%T|%l|%N|%A|%F|%K|%a|%q|100%%"])).toBe(0);
  expect(rig.out).toBe("43|RUNNING|2:00:00|n[1-2,4]|43|43|N/A|(null)|normal|100%\n");
  rig.out = "";
  await runSlurm("squeue", ["-hr", "--sort=-i", "--format=%i", "-n", "arr.sh,wrap"]);
  expect(rig.requests.at(-1)).toContain("expand=true");
  expect(rig.out).toBe("48\n46_3\n46_2\n46_1\n46_0\n");
  rig.out = "";
  await runSlurm("squeue", ["-t", "R", "-O", "JobID:6,Name:.8,State"]);
  expect(rig.out).toBe("JOBID     NAMESTATE               \n43         runRUNNING             \n");
});

test.each<[readonly string[], string]>([
  [["--nosuch"], "squeue: unrecognized option '--nosuch'\nTry \"squeue --help\" for more information\n"],
  [["-t", "WALKING"], "squeue: error: Invalid job state specified: WALKING\n"],
  [["-j", "foo"], "squeue: error: Invalid job id: foo\n"],
  [["-i", "often"], "squeue: error: invalid entry for --iterate=often\n"],
  [["-j", "999"], "slurm_load_jobs error: Invalid job id specified\n"],
])("squeue refuses %j", async (argv, text) => {
  answerWithQueue();
  expect(await runSlurm("squeue", argv)).toBe(1);
  expect(rig.err.startsWith(text)).toBe(true);
  expect(rig.out).toBe("");
});

test("an unreachable server is reported in Slurm's words", async () => {
  vi.stubEnv("LATTICE_API_URL", "http://127.0.0.1:1");
  expect(await runSlurm("squeue", [])).toBe(1);
  expect(rig.err).toContain("squeue: error: Unable to contact slurm controller (connect failure)");
});

function answerWithNodes(): void {
  const node = (id: string, more: object = {}) => ({
    id,
    state: "ready",
    capabilities: { cpu_cores: 2, memory_gb: 4 },
    ...more,
  });
  const nodes = [
    node("n10", { state: "down", reason: "lost" }),
    node("n1"),
    node("n2", { claims: [{ allocation_id: "7" }] }),
    node("n3"),
    node("n4"),
  ];
  rig.answers = {
    "GET /api/v1/nodes": [200, { nodes }],
    "GET /api/v1/vclusters": [200, { vclusters: [{ id: "debug", is_default: true }] }],
  };
}

test("sinfo groups equal nodes on one line", async () => {
  answerWithNodes();
  expect(await runSlurm("sinfo", [])).toBe(0);
  expect(rig.out.split("\n")).toEqual([
    "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST",
    "debug*       up   infinite      3   idle n[1,3-4]",
    "debug*       up   infinite      1  alloc n2",
    "debug*       up   infinite      1  down* n10",
    "",
  ]);
});

test("sinfo supports formats, one line per node, and states", async () => {
  answerWithNodes();
  await runSlurm("sinfo", ["-t", "idle", "-o", "%P|%a|%l|%D|%t|%N|%c|%m|%G|%f"]);
  expect(rig.out).toBe(
    "PARTITION|AVAIL|TIMELIMIT|NODES|STATE|NODELIST|CPUS|MEMORY|GRES|AVAIL_FEATURES\ndebug*|up|infinite|3|idle|n[1,3-4]|2|4096|(null)|(null)\n",
  );
  rig.out = "";
  await runSlurm("sinfo", ["-N", "-l", "-n", "n1"]);
  expect(rig.out.split("\n").slice(1)).toEqual([
    "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON              ",
    "n1             1    debug*        idle 2       2:1:1   4096        0      1   (null) none                ",
    "",
  ]);
  rig.out = "";
  await runSlurm("sinfo", ["-h", "-s", "-o", "%A %F"]);
  expect(rig.out).toBe("1/3 1/3/1/5\n");
});

test("sinfo -N keeps the partitions of a node together", async () => {
  answerWithNodes();
  const vclusters = [{ id: "debug", is_default: true }, { id: "long" }];
  rig.answers["GET /api/v1/vclusters"] = [200, { vclusters }];
  await runSlurm("sinfo", ["-h", "-N", "-o", "%N %P", "-n", "n1,n10"]);
  expect(rig.out).toBe("n1 debug*\nn1 long\nn10 debug*\nn10 long\n");
});

test("sinfo -R lists each node with a reason once", async () => {
  answerWithNodes();
  const vclusters = [{ id: "debug", is_default: true }, { id: "long" }];
  rig.answers["GET /api/v1/vclusters"] = [200, { vclusters }];
  await runSlurm("sinfo", ["-h", "-R", "-o", "%E %N"]);
  expect(rig.out).toBe("lost n10\n");
  rig.out = "";
  await runSlurm("sinfo", ["-h", "-R", "-n", "n1"]);
  expect(rig.out).toBe("");
});

test("sinfo --json honours the filters", async () => {
  answerWithNodes();
  expect(await runSlurm("sinfo", ["--json", "-n", "n1,n10"])).toBe(0);
  const { nodes } = JSON.parse(rig.out) as { nodes: Record<string, unknown>[] };
  expect(nodes).toMatchObject([
    { name: "n1", state: "idle", state_flags: [], cpus: 2, real_memory: 4096, gres: "", partitions: ["debug"] },
    { name: "n10", state: "down", state_flags: ["NOT_RESPONDING"] },
  ]);
});

test("sacct prints a table, and delimited lines with -P", async () => {
  const ended = job("44", "a-rather-long-name", {
    state: "failed",
    reason: "walltime_exceeded",
    exit_code: 143,
    nodes: ["n1"],
    submitted_at: "2026-11-15T10:00:00Z",
    started_at: "2026-11-15T10:00:01Z",
    ended_at: "2026-11-15T11:00:03Z",
  });
  answerWithNodes();
  rig.answers = { ...rig.answers, "GET /api/v1/allocations/44": [200, ended] };
  expect(await runSlurm("sacct", ["-X", "-j", "44,999"])).toBe(0);
  expect(rig.out.split("\n")).toEqual([
    "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode ",
    "------------ ---------- ---------- ---------- ---------- ---------- -------- ",
    "44           a-rather-+      debug    default          2    TIMEOUT     0:15 ",
    "",
  ]);
  rig.out = "";
  await runSlurm("sacct", ["-j", "44", "-nP", "--format=jobid,state,elapsed,ElapsedRaw,NodeList,NNodes"]);
  expect(rig.out).toBe("44|TIMEOUT|01:00:02|3602|n1|1\n");
  rig.out = "";
  await runSlurm("sacct", ["-j", "44", "-n", "-o", "JobID%-5,JobName%20"]);
  expect(rig.out).toBe("44      a-rather-long-name \n");
  expect(await runSlurm("sacct", ["-o", "Nothing"])).toBe(1);
  expect(rig.err).toBe('sacct: error: Invalid field requested: "Nothing"\n');
});

test("scancel ignores ended jobs and fails for forbidden ones", async () => {
  const refusal = (code: string, status: number) => ({ code, status, detail: "no", hint: "" });
  rig.answers = {
    "POST /api/v1/allocations/1/cancel": [200, { id: "1" }],
    "POST /api/v1/allocations/2_%5B1-3%5D/cancel": [200, { id: "2" }],
    "POST /api/v1/allocations/3/cancel": [409, refusal("illegal_transition", 409)],
    "POST /api/v1/allocations/4/cancel": [403, refusal("not_owner", 403)],
  };
  expect(await runSlurm("scancel", ["1", "2_[1-3]", "3", "999"])).toBe(0);
  expect(rig.err).toBe("");
  expect(await runSlurm("scancel", ["4"])).toBe(1);
  expect(rig.err).toBe("scancel: error: Kill job error on job id 4: Access/permission denied\n");
  expect(await runSlurm("scancel", ["nonsense"])).toBe(1);
});

test("scancel signals running processes, cancels for KILL, and refuses unknown signals", async () => {
  rig.answers = {
    "GET /api/v1/allocations/5": [200, job("5", "waits")],
    "POST /api/v1/allocations/5/cancel": [200, { id: "5" }],
  };
  expect(await runSlurm("scancel", ["-s", "SIGUSR1", "5"])).toBe(1);
  expect(rig.err).toBe("scancel: error: Kill job error on job id 5: Job is pending execution\n");
  expect(await runSlurm("scancel", ["-s", "9", "5"])).toBe(0);
  rig.err = "";
  expect(await runSlurm("scancel", ["-s", "LOUD", "5"])).toBe(1);
  expect(rig.err).toBe("scancel: error: Unknown job signal: LOUD\n");
});

test("scontrol update changes nodes and limits, or nothing when a field is refused", async () => {
  rig.answers = {
    "POST /api/v1/nodes/n1/drain": [200, { node: { id: "n1", state: "draining" } }],
    "GET /api/v1/nodes/n2": [200, { id: "n2", state: "drained" }],
    "POST /api/v1/nodes/n2/undrain": [200, { node: { id: "n2", state: "ready" } }],
    "GET /api/v1/allocations/44": [200, job("44", "x", { spec: { lifecycle: { walltime_seconds: 600 } } })],
    "PATCH /api/v1/allocations/44": [200, { allocation: job("44", "x") }],
  };
  expect(await runSlurm("scontrol", ["update", "NodeName=n1", "State=DRAIN"])).toBe(1);
  expect(rig.err).toContain("You must specify a reason");
  expect(await runSlurm("scontrol", ["update", "NodeName=n1", "Weight=3", "State=DRAIN", "Reason=x"])).toBe(1);
  expect(rig.requests).toEqual([]);
  expect(await runSlurm("scontrol", ["update", "NodeName=n1", "State=drain", "Reason=bad disk"])).toBe(0);
  expect(rig.bodies.at(-1)).toContain('"reason":"bad disk"');
  expect(await runSlurm("scontrol", ["update", "nodename=n2", "state=resume"])).toBe(0);
  expect(await runSlurm("scontrol", ["update", "job=44", "TimeLimit=+5"])).toBe(0);
  expect(rig.bodies.at(-1)).toContain('"walltime_seconds":900');
});

test("every command has --help and --version", async () => {
  for (const name of SLURM_COMMANDS) {
    rig.out = "";
    expect(await runSlurm(name, ["--help"])).toBe(0);
    expect(rig.out).toContain(`Usage: ${name}`);
    expect(await runSlurm(name, ["--version"])).toBe(0);
  }
  expect(rig.requests).toEqual([]);
  expect(await runSlurm("nosuch", [])).toBe(2);
});

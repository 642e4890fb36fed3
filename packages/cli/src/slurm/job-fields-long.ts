// The columns of `squeue -O` that have a name but no letter. Fields without a Lattice counterpart show Slurm's text for
// an unset value.

import type { Field, Fields } from "./format.ts";
import { type JobFacts, nodeCount, taskCount } from "./job-fields.ts";
import { exitText } from "./job-state.ts";
import type { SlurmJob } from "./jobs.ts";
import { localTime } from "./times.ts";

const field = (header: string, value: Field<SlurmJob>["value"]): Field<SlurmJob> => ({ header, value });
const always = (header: string, text: string): Field<SlurmJob> => field(header, () => text);

/** Keys are lower-case names. */
export function longJobFields(now: number, facts: JobFacts | undefined): Fields<SlurmJob> {
  const submitted = field("ELIGIBLE_TIME", ({ allocation }) => localTime(allocation.submitted_at) || "N/A");
  return {
    accruetime: { ...submitted, header: "ACCRUE_TIME" },
    eligibletime: submitted,
    admin_comment: always("ADMIN_COMMENT", "(null)"),
    system_comment: always("SYSTEM_COMMENT", "(null)"),
    allocnodes: field(
      "ALLOC_NODES",
      ({ allocation }) => allocation.spec?.environment?.variables?.SLURM_SUBMIT_HOST ?? "N/A",
    ),
    allocsid: always("ALLOC_SID", "0"),
    associd: always("ASSOC_ID", "0"),
    batchflag: field("BATCH_FLAG", ({ allocation }) => (allocation.spec?.script ? "1" : "0")),
    boardspernode: always("BOARDS_PER_NODE", "N/A"),
    burstbuffer: always("BURST_BUFFER", ""),
    burstbufferstate: always("BURST_BUFFER_STATE", ""),
    cluster: always("CLUSTER", "lattice"),
    clusterfeature: always("CLUSTER_FEATURES", "(null)"),
    container: field("CONTAINER", ({ allocation }) => allocation.spec?.environment?.image ?? ""),
    cpuspertask: CPUS_PER_TASK,
    "cpus-per-task": CPUS_PER_TASK,
    "cpus-per-tres": always("CPUS_PER_TRES", "N/A"),
    cronjob: always("CRON_JOB", "No"),
    deadline: always("DEADLINE", "N/A"),
    delayboot: always("DELAY_BOOT", "0:00"),
    derivedec: field("DERIVED_EC", ({ allocation }) => exitText(allocation)),
    exit_code: field("EXIT_CODE", ({ allocation }) => exitText(allocation)),
    hetjobid: always("HET_JOB_ID", "N/A"),
    hetjobidset: always("HET_JOB_ID_SET", "N/A"),
    hetjoboffset: always("HET_JOB_OFFSET", "N/A"),
    lastschedeval: always("LAST_SCHED_EVAL", "N/A"),
    maxcpus: always("MAX_CPUS", "0"),
    maxnodes: field("MAX_NODES", mostNodes),
    mcslabel: always("MCSLABEL", "N/A"),
    "mem-per-tres": always("MEM_PER_TRES", "N/A"),
    mintime: always("TIME_MIN", "0:00"),
    network: field("NETWORK", ({ allocation }) => allocation.network?.domain ?? "(null)"),
    ntperboard: always("NTASKS_PER_BOARD", "N/A"),
    ntpercore: always("NTASKS_PER_CORE", "N/A"),
    ntpernode: field("NTASKS_PER_NODE", ({ allocation }) => `${allocation.spec?.resources?.tasks_per_node ?? "N/A"}`),
    ntpersocket: always("NTASKS_PER_SOCKET", "N/A"),
    numtasks: field("TASKS", (job) => `${taskCount(job)}`),
    origin: always("ORIGIN", "NA"),
    pendingtime: field("PENDING_TIME", (job) => pendingSeconds(job, now)),
    preempttime: always("PREEMPT_TIME", "NOT_SET"),
    prefer: always("PREFER", "(null)"),
    profile: always("PROFILE", "NotSet"),
    reboot: always("REBOOT", "0"),
    reqswitch: always("REQ_SWITCH", "0"),
    requeue: field("REQUEUE", ({ allocation }) => (allocation.spec?.lifecycle?.requeue_policy === "never" ? "0" : "1")),
    resizetime: always("RESIZE_TIME", "N/A"),
    restartcnt: field(
      "RESTART_COUNT",
      ({ allocation }) => `${(allocation.requeues ?? 0) + (allocation.preemptions ?? 0)}`,
    ),
    sperboard: always("SOCKETS_PER_BOARD", "0"),
    stderr: field(
      "STDERR",
      ({ allocation }) => allocation.spec?.output?.error_file || allocation.spec?.output?.file || "(null)",
    ),
    stdin: always("STDIN", "/dev/null"),
    stdout: field("STDOUT", ({ allocation }) => allocation.spec?.output?.file || "(null)"),
    tres: field("TRES_ALLOC", (job) => tresText(job, facts)),
    "tres-alloc": field("TRES_ALLOC", (job) => tresText(job, facts)),
    "tres-bind": always("TRES_BIND", "N/A"),
    "tres-freq": always("TRES_FREQ", "N/A"),
    "tres-per-job": always("TRES_PER_JOB", "N/A"),
    "tres-per-socket": always("TRES_PER_SOCKET", "N/A"),
    "tres-per-task": always("TRES_PER_TASK", "N/A"),
    wait4switch: always("WAIT4SWITCH", "0:00"),
  };
}

const CPUS_PER_TASK = field(
  "CPUS_PER_TASK",
  ({ allocation }) => allocation.spec?.environment?.variables?.SLURM_CPUS_PER_TASK ?? "N/A",
);

function mostNodes({ allocation }: SlurmJob): string {
  const requested = allocation.spec?.resources?.nodes;
  return `${typeof requested === "object" ? (requested.max ?? 0) : 0}`;
}

function pendingSeconds({ allocation: { submitted_at, started_at } }: SlurmJob, now: number): string {
  const until = started_at === undefined ? now : Date.parse(started_at);
  return `${Math.max(0, Math.floor((until - Date.parse(submitted_at ?? "")) / 1000)) || 0}`;
}

function tresText(job: SlurmJob, facts: JobFacts | undefined): string {
  const cores = facts?.cores(job) ?? taskCount(job);
  const { gpu_count: gpus = 0 } = job.allocation.spec?.resources?.constraints ?? {};
  const count = nodeCount(job);
  return `cpu=${cores},node=${count},billing=${cores}${gpus === 0 ? "" : `,gres/gpu=${gpus * count}`}`;
}

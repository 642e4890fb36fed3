// Transcripts of real MPI libraries, replayed against the PMI server: the
// exchanges of stock MPICH (PMI-1), of an MPICH that speaks PMI-2 and miscounts its messages, and
// of Slurm's client library (PMI-2, with `;` in values).
import { expect, test } from "vitest";
import { framing } from "../../src/tasks/pmi/framing.ts";
import { type PmiEffect, pmiServer } from "../../src/tasks/pmi/server.ts";

const job = { jobId: "kvs_job42_0", size: 4, ranks: [0, 1], mapping: "(vector,(0,2,2))" };

/** Lines `RANK -> said` and `RANK <- answered`; a fence is ended at once with what this node brought. */
function replay(script: string, more: readonly (readonly [string, string])[] = []): void {
  const server = pmiServer(job);
  const cuts = new Map([0, 1].map((rank) => [rank, framing()]));
  const answers = new Map<number, string[]>([
    [0, []],
    [1, []],
  ]);
  const take = (effects: readonly PmiEffect[]): void => {
    for (const effect of effects) {
      if (effect.kind === "reply") answers.get(effect.rank)?.push(effect.text);
      if (effect.kind === "fence") take(server.fenceDone(effect.number, [...effect.entries, ...more]));
    }
  };
  for (const line of script.trim().split("\n")) {
    const [, rankText, arrow, text = ""] = /^\s*(\d) (->|<-) (.*)$/.exec(line) ?? [];
    const rank = Number(rankText);
    const bytes = text.replaceAll("\\n", "\n").replaceAll("\\0", "\0");
    if (arrow === "<-") {
      expect(answers.get(rank)?.shift(), line).toBe(bytes);
      continue;
    }
    for (const framed of cuts.get(rank)?.push(Buffer.from(bytes, "latin1")) ?? []) {
      if (framed.kind === "malformed") throw new Error(`${framed.detail}: ${line}`);
      take(server.receive(rank, framed.version, framed.message));
    }
  }
  expect([...answers.values()].flat()).toEqual([]);
}

test("stock MPICH over PMI-1, from init to finalize", () => {
  replay(
    `
    0 -> cmd=init pmi_version=1 pmi_subversion=1\\n
    0 <- cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\\n
    0 -> cmd=get_maxes\\n
    0 <- cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\\n
    0 -> cmd=get_appnum\\n
    0 <- cmd=appnum rc=0 appnum=0\\n
    0 -> cmd=get_my_kvsname\\n
    0 <- cmd=my_kvsname rc=0 kvsname=kvs_job42_0\\n
    0 -> cmd=get kvsname=kvs_job42_0 key=PMI_process_mapping\\n
    0 <- cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\\n
    1 -> cmd=init pmi_version=1 pmi_subversion=1\\n
    1 <- cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\\n
    1 -> cmd=barrier_in\\n
    0 -> cmd=barrier_in\\n
    1 <- cmd=barrier_out rc=0\\n
    0 <- cmd=barrier_out rc=0\\n
    0 -> cmd=put kvsname=kvs_job42_0 key=-bcast-1-0 value=2F6465762F73686D\\n
    0 <- cmd=put_result rc=0 msg=success\\n
    1 -> cmd=barrier_in\\n
    0 -> cmd=barrier_in\\n
    1 <- cmd=barrier_out rc=0\\n
    0 <- cmd=barrier_out rc=0\\n
    1 -> cmd=get kvsname=kvs_job42_0 key=-bcast-1-0\\n
    1 <- cmd=get_result rc=0 msg=success value=2F6465762F73686D\\n
    1 -> cmd=get kvsname=kvs_job42_0 key=of-another-node\\n
    1 <- cmd=get_result rc=0 msg=success value=far\\n
    1 -> cmd=get kvsname=kvs_job42_0 key=nosuch\\n
    1 <- cmd=get_result rc=-1 msg=key_nosuch_not_found value=unknown\\n
    0 -> cmd=finalize\\n
    0 <- cmd=finalize_ack rc=0\\n
    `,
    [["of-another-node", "far"]],
  );
});

test("an MPICH that speaks PMI-2, counts six bytes too many and sends garbage for them", () => {
  replay(`
    0 -> cmd=init pmi_version=2 pmi_subversion=0\\n
    0 <- cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\\n
    1 -> cmd=init pmi_version=2 pmi_subversion=0\\n
    1 <- cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\\n
    1 -> 65    cmd=fullinit;pmijobid=kvs_job42_0;pmirank=1;threaded=FALSE;\\0\\0\\0\\0\\0\\0
    1 <- 113   cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=0;debugged=FALSE;pmiverbose=FALSE;
    1 -> 20    cmd=job-getid;stale;
    1 <- 46    cmd=job-getid-response;rc=0;jobid=kvs_job42_0;
    1 -> 50    cmd=info-getjobattr;key=PMI_process_mapping;\\0\\0\\0\\0\\0\\0
    1 <- 68    cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,2));
    1 -> 52    cmd=info-getnodeattr;key=-bcast-1-0;wait=TRUE;\\0\\0\\0\\0\\0\\0
    0 -> 58    cmd=info-putnodeattr;key=-bcast-1-0;value=/dev/shm/x;\\0\\0\\0\\0\\0
    0 <- 35    cmd=info-putnodeattr-response;rc=0;
    1 <- 63    cmd=info-getnodeattr-response;rc=0;found=TRUE;value=/dev/shm/x;
  `);
});

test("Slurm's client over PMI-2: semicolons survive, unknown keys are reported, fences complete", () => {
  replay(`
    0 -> cmd=init pmi_version=2 pmi_subversion=0\\n
    0 <- cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\\n
    1 -> cmd=init pmi_version=2 pmi_subversion=0\\n
    1 <- cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\\n
    0 -> 37    cmd=info-getjobattr;key=universeSize;
    0 <- 53    cmd=info-getjobattr-response;rc=0;found=TRUE;value=4;
    0 -> 48    cmd=kvs-put;key=bc-0;value=addr;;of=rank 0;;;;x;
    0 <- 26    cmd=kvs-put-response;rc=0;
    0 -> 14    cmd=kvs-fence;
    1 -> 14    cmd=kvs-fence;
    0 <- 28    cmd=kvs-fence-response;rc=0;
    1 <- 28    cmd=kvs-fence-response;rc=0;
    1 -> 48    cmd=kvs-get;jobid=kvs_job42_0;srcid=-1;key=bc-0;
    1 <- 64    cmd=kvs-get-response;rc=0;found=TRUE;value=addr;;of=rank 0;;;;x;
    1 -> 53    cmd=kvs-get;jobid=kvs_job42_0;srcid=-1;key=nosuchkey;
    1 <- 38    cmd=kvs-get-response;rc=0;found=FALSE;
    1 -> 43    cmd=info-getnodeattr;key=nosuch;wait=FALSE;
    1 <- 47    cmd=info-getnodeattr-response;rc=0;found=FALSE;
    1 -> 13    cmd=finalize;
    1 <- 27    cmd=finalize-response;rc=0;
  `);
});

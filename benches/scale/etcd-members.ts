// The etcd members that the servers of a quorum run: moves the etcd leader and kills members, over etcd's JSON gateway.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../tests/harness/eventually.ts";
import { kill, processesIn } from "../../tests/harness/processes.ts";
import type { Quorum } from "../../tests/harness/quorum.ts";

interface Status {
  readonly leader?: string;
  readonly header: { readonly member_id: string };
}

/** Makes the member of server `n` the leader of etcd. */
export async function leadEtcd(quorum: Quorum, n: number): Promise<void> {
  const target = (await statusOf(quorum, n)).header.member_id;
  await eventually({ what: `etcd is led by the member of server ${n}`, everyMs: 200 }, async () => {
    const { leader, header } = await statusOf(quorum, n);
    if (leader === header.member_id) return true;
    for (const other of SERVERS) {
      const status = await statusOf(quorum, other);
      // Only the leader itself can transfer the lead.
      if (status.leader === status.header.member_id) {
        await ask(quorum, other, "/v3/maintenance/transfer-leadership", { targetID: target });
      }
    }
    return null;
  });
}

/** Kills the member of server `n` with SIGKILL; the server restarts it when it starts. */
export function killEtcd(quorum: Quorum, n: number): void {
  const dir = join(quorum.dir, `server-${n}`);
  const members = processesIn(dir).filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "etcd");
  if (members.length !== 1) throw new Error(`server ${n} has ${members.length} etcd members`);
  for (const pid of members) kill(pid, "SIGKILL");
}

const SERVERS = [1, 2, 3];

const statusOf = (quorum: Quorum, n: number): Promise<Status> => ask<Status>(quorum, n, "/v3/maintenance/status", {});

async function ask<T>(quorum: Quorum, n: number, path: string, body: object): Promise<T> {
  const address = quorum.etcd(n);
  const answer = await fetch(`http://${address}${path}`, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd at ${address}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

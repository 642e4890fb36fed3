// etcd as its administrator sees it, through etcdctl on a member's machine: leader, keys, compaction and
// defragmentation. It does not use Lattice's own client, so that the two check each other.
import type { MemberFiles } from "./certificates.ts";
import { command } from "./command.ts";
import type { Machine } from "./network.ts";

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
}

export interface MemberStatus {
  readonly isLeader: boolean;
  /** Id of the etcd cluster. */
  readonly cluster: number;
  readonly revision: number;
  readonly bytes: number;
}

export interface RangeOptions {
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  readonly limit?: number;
  readonly keysOnly?: boolean;
}

const ENDPOINT = "https://127.0.0.1:2379";
let identity: readonly string[] = [];

/** Members serve holders of their certificates only. */
export function presentCertificates({ ca, cert, key }: MemberFiles): void {
  identity = [`--cacert=${ca}`, `--cert=${cert}`, `--key=${key}`];
}

const CTL_TIMEOUT = "--command-timeout=4s";

export async function memberStatus(machine: Machine): Promise<MemberStatus> {
  const text = (await ctl(machine, ["endpoint", "status", "-w", "json"])).toString("utf8");
  const [first] = JSON.parse(text) as { Status: RawStatus }[];
  if (first === undefined) throw new Error(`no status of the member of ${machine.name}`);
  const { header, leader, dbSize } = first.Status;
  const { cluster_id: cluster } = header;
  return { isLeader: header.member_id === leader, cluster, revision: header.revision, bytes: dbSize };
}

interface RawStatus {
  readonly header: { readonly cluster_id: number; readonly member_id: number; readonly revision: number };
  readonly leader: number;
  readonly dbSize: number;
}

/** According to this member, which may be slightly stale. */
export async function range(machine: Machine, options: RangeOptions): Promise<readonly KeyValue[]> {
  const flags = ["--consistency=s", "-w", "json", ...(options.keysOnly === true ? ["--keys-only"] : [])];
  const limit = options.limit === undefined ? [] : [`--limit=${options.limit}`];
  const text = (await ctl(machine, ["get", options.from, options.to, ...flags, ...limit])).toString("utf8");
  const { kvs } = JSON.parse(text) as { kvs?: { key: string; value?: string }[] };
  return (kvs ?? []).map(({ key, value }) => ({
    key: Buffer.from(key, "base64").toString("utf8"),
    value: Buffer.from(value ?? "", "base64"),
  }));
}

export async function put(machine: Machine, key: string, value: Uint8Array): Promise<void> {
  await ctl(machine, ["put", key], value);
}

export async function compact(machine: Machine, revision: number): Promise<void> {
  await ctl(machine, ["compaction", String(revision), "--physical"]);
}

export async function defragment(machine: Machine): Promise<void> {
  await ctl(machine, ["defrag"]);
}

function ctl(machine: Machine, words: readonly string[], input?: Uint8Array): Promise<Buffer> {
  const line = [
    ...machine.enter,
    "env",
    "ETCDCTL_API=3",
    "etcdctl",
    ...identity,
    `--endpoints=${ENDPOINT}`,
    CTL_TIMEOUT,
    ...words,
  ];
  return command(line, input === undefined ? {} : { input });
}

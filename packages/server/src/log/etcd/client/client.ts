// The calls to etcd that the engine makes, as functions with deadlines. Nothing here knows the meaning of keys.

import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  AlarmRequest_AlarmAction,
  AlarmType,
  Cluster,
  KV,
  Lease,
  Maintenance,
  type Member,
  type RangeRequestSchema,
  type RangeResponse,
  type StatusResponse,
  type TxnRequestSchema,
  type TxnResponse,
  Watch,
  type WatchRequestSchema,
  type WatchResponseSchema,
} from "../../../../gen/etcdserverpb/rpc_pb.ts";
import { type ChannelOptions, type Duplex, openChannel } from "./channel.ts";
import { EtcdError } from "./etcd-error.ts";

/** Deadlines of a call and of one member: long enough for a busy member, short enough to try the others. */
const READ_TIMEOUT_MS = 10_000;
const READ_ATTEMPT_MS = 2_000;
const LEASE_TIMEOUT_MS = 2_000;
const ADMIN_TIMEOUT_MS = 10_000;
/** Defragmenting rewrites the whole database of a member, which answers nothing meanwhile. */
const DEFRAGMENT_TIMEOUT_MS = 120_000;

export interface EtcdClient {
  /** Retried on other members. Linearizable unless the request says otherwise. */
  range(request: MessageInitShape<typeof RangeRequestSchema>, signal?: AbortSignal): Promise<RangeResponse>;
  /** Sent once. */
  txn(request: MessageInitShape<typeof TxnRequestSchema>, timeoutMs: number): Promise<TxnResponse>;
  /** `physical`: answers only when the old revisions are deleted from the database. */
  compact(revision: bigint, physical?: boolean): Promise<void>;
  watch(): Duplex<typeof WatchRequestSchema, typeof WatchResponseSchema>;
  leaseGrant(ttlSeconds: number): Promise<{ readonly id: bigint; readonly ttlSeconds: number }>;
  /** Returns the remaining seconds; 0 when the lease is gone. After `slowMs` the next call uses another member. */
  leaseKeepAlive(id: bigint, timeoutMs: number, slowMs?: number): Promise<number>;
  leaseRevoke(id: bigint): Promise<void>;
  memberList(): Promise<readonly Member[]>;
  /** As a learner: it copies the log and has no vote, so that a member that never starts costs no majority. */
  memberAdd(peerUrl: string): Promise<{ readonly added: Member; readonly members: readonly Member[] }>;
  /** Gives a learner a vote. Refused until it has caught up. */
  memberPromote(id: bigint): Promise<void>;
  memberRemove(id: bigint): Promise<readonly Member[]>;
  /** Of the member used at the moment. */
  status(timeoutMs?: number): Promise<StatusResponse>;
  defragment(): Promise<void>;
  /** Only etcd's own leader accepts this. */
  moveLeader(target: bigint): Promise<void>;
  disarmNoSpace(memberId: bigint): Promise<void>;
  endpoint(): string;
  close(): void;
}

export function createEtcdClient(options: ChannelOptions): EtcdClient {
  const channel = openChannel(options);
  const read = { timeoutMs: READ_TIMEOUT_MS, retry: { attemptMs: READ_ATTEMPT_MS } };
  const admin = { timeoutMs: ADMIN_TIMEOUT_MS };
  const lease = { timeoutMs: LEASE_TIMEOUT_MS };
  return {
    range: (request, signal) =>
      channel.unary(KV.method.range, request, signal === undefined ? read : { ...read, signal }),
    txn: (request, timeoutMs) => channel.unary(KV.method.txn, request, { timeoutMs }),
    async compact(revision, physical = false) {
      await channel.unary(KV.method.compact, { revision, physical }, admin);
    },
    watch: () => channel.duplex(Watch.method.watch),
    async leaseGrant(ttlSeconds) {
      const answer = await channel.unary(Lease.method.leaseGrant, { ttl: BigInt(ttlSeconds) }, lease);
      if (answer.error !== "") throw new EtcdError("refused", answer.error);
      return { id: answer.id, ttlSeconds: Number(answer.ttl) };
    },
    async leaseKeepAlive(id, timeoutMs, slowMs = timeoutMs) {
      const { stream, endpoint, blame } = channel.duplex(Lease.method.leaseKeepAlive);
      return new Promise((resolve, reject) => {
        let done = false;
        const finish = (): boolean => {
          if (done) return false;
          done = true;
          clearTimeout(timer);
          clearTimeout(slow);
          stream.cancel();
          return true;
        };
        const fail = (text: string): void => {
          if (!finish()) return;
          blame();
          reject(new EtcdError("unavailable", `etcd at ${endpoint}: ${text}`));
        };
        const timer = setTimeout(() => fail(`no answer to a keepalive within ${timeoutMs} ms`), timeoutMs);
        const slow = setTimeout(blame, slowMs);
        stream.on("error", (cause: Error) => fail(cause.message));
        stream.on("end", () => fail("the keepalive stream ended"));
        stream.on("data", (answer: { readonly ttl: bigint }) => {
          if (finish()) resolve(Number(answer.ttl));
        });
        stream.write({ id });
      });
    },
    async leaseRevoke(id) {
      await channel.unary(Lease.method.leaseRevoke, { id }, lease);
    },
    memberList: async () => (await channel.unary(Cluster.method.memberList, {}, read)).members,
    async memberAdd(peerUrl) {
      const { member, members } = await channel.unary(
        Cluster.method.memberAdd,
        { peerUrls: [peerUrl], isLearner: true },
        admin,
      );
      if (member === undefined) throw new EtcdError("refused", "etcd added no member");
      return { added: member, members };
    },
    async memberPromote(id) {
      await channel.unary(Cluster.method.memberPromote, { id }, admin);
    },
    memberRemove: async (id) => (await channel.unary(Cluster.method.memberRemove, { id }, admin)).members,
    status: (timeoutMs = READ_ATTEMPT_MS) => channel.unary(Maintenance.method.status, {}, { timeoutMs }),
    async defragment() {
      await channel.unary(Maintenance.method.defragment, {}, { timeoutMs: DEFRAGMENT_TIMEOUT_MS });
    },
    async moveLeader(targetId) {
      await channel.unary(Maintenance.method.moveLeader, { targetId }, admin);
    },
    async disarmNoSpace(memberId) {
      const action = AlarmRequest_AlarmAction.DEACTIVATE;
      await channel.unary(Maintenance.method.alarm, { action, memberId, alarm: AlarmType.NOSPACE }, admin);
    },
    endpoint: channel.endpoint,
    close: channel.close,
  };
}

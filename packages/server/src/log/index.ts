// The log engines. Everything above uses the contract and this one function to open one.

import type { ReplicatedLog } from "./contract/replicated-log.ts";
import { openEmbeddedLog } from "./embedded/open.ts";
import type { ManagedMemberOptions } from "./etcd/managed/member.ts";
import { openManagedEtcdLog } from "./etcd/managed/open.ts";
import { openEtcdLog } from "./etcd/open.ts";
import type { EtcdLogOptions } from "./etcd/options.ts";
import { openMemoryLog } from "./memory/open.ts";

export * from "./contract/replicated-log.ts";
export type { KnownServer, SharedLog } from "./contract/shared-log.ts";
export { openEmbeddedLog } from "./embedded/open.ts";
export { refuseEmbeddedLog, seedEmbeddedLog } from "./embedded/seed.ts";
export type { EtcdMember } from "./etcd/cluster.ts";
export { namedPlaces } from "./etcd/managed/announce.ts";
export type { MemberPlace } from "./etcd/managed/command-line.ts";
export { ManagedError } from "./etcd/managed/managed-error.ts";
export { type Begin, type ManagedMember, startManagedMember } from "./etcd/managed/member.ts";
export { openManagedEtcdLog } from "./etcd/managed/open.ts";
export { openEtcdLog } from "./etcd/open.ts";
export type { EtcdLogOptions } from "./etcd/options.ts";
export { answersClients } from "./etcd/probe.ts";
export { refuseEtcdLog, seedEtcdLog } from "./etcd/seed.ts";
export { speaksAt } from "./etcd/shared.ts";
export { openMemoryLog } from "./memory/open.ts";
export { createMemoryStore, type MemoryStore } from "./memory/store.ts";

export type LogConfig =
  | { readonly engine: "memory" }
  | { readonly engine: "embedded"; readonly dir: string; readonly onWarning?: (text: string) => void }
  | ({ readonly engine: "etcd"; readonly managed: ManagedMemberOptions | null } & EtcdLogOptions);

export async function openLog(config: LogConfig): Promise<ReplicatedLog> {
  switch (config.engine) {
    case "memory":
      return openMemoryLog();
    case "embedded":
      return openEmbeddedLog(config);
    case "etcd":
      return config.managed === null ? openEtcdLog(config) : openManagedEtcdLog(config, config.managed);
  }
}

// Opens the log on a managed etcd member: the member first, then the log. Closing the log leaves the member running.

import type { EtcdLog } from "../handle.ts";
import { openEtcdLog } from "../open.ts";
import type { EtcdLogOptions } from "../options.ts";
import { type ManagedMember, type ManagedMemberOptions, startManagedMember } from "./member.ts";

interface ManagedEtcdLog extends EtcdLog {
  readonly member: ManagedMember;
}

export async function openManagedEtcdLog(
  options: EtcdLogOptions,
  managed: ManagedMemberOptions,
): Promise<ManagedEtcdLog> {
  const member = await startManagedMember(managed);
  try {
    // Our own member first; the other endpoints when it is down.
    const others = options.endpoints.filter((endpoint) => endpoint !== member.endpoint);
    const endpoints = [member.endpoint, ...(managed.tls === null ? others.map(plain) : others)];
    const own = { tls: member.tls, securedPeers: managed.tls !== null, ownMember: true, peer: managed.peer };
    const log = await openEtcdLog({ ...options, ...own, endpoints });
    const closeLog = log.close.bind(log);
    const close = async (): Promise<void> => {
      await closeLog();
      await member.release();
    };
    return Object.assign(log, { member, close });
  } catch (cause) {
    await member.release();
    throw cause;
  }
}

/** The certificate of our own member says nothing about others. */
const plain = (endpoint: string): string => (endpoint.includes("://") ? endpoint : `http://${endpoint}`);

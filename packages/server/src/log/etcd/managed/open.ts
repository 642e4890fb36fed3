// The log on a member of etcd that this server runs itself: the member first, then the log on it.
// Closing the log leaves the member running.

import { type EtcdLog, type EtcdLogOptions, openEtcdLog } from "../open.ts";
import { type ManagedMember, type ManagedMemberOptions, startManagedMember } from "./member.ts";

export interface ManagedEtcdLog extends EtcdLog {
  readonly member: ManagedMember;
}

export async function openManagedEtcdLog(
  options: EtcdLogOptions,
  managed: ManagedMemberOptions,
): Promise<ManagedEtcdLog> {
  const member = await startManagedMember(managed);
  try {
    // Our own member first; the others, where they are named, when it is down.
    const endpoints = [member.endpoint, ...options.endpoints.filter((endpoint) => endpoint !== member.endpoint)];
    const log = await openEtcdLog({ ...options, endpoints, ownMember: true, peer: managed.peer });
    const close = async (): Promise<void> => {
      await log.close();
      await member.release();
    };
    return { ...log, member, close };
  } catch (cause) {
    await member.release();
    throw cause;
  }
}

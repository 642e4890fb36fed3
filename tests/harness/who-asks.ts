// Which of several programs of this machine is at the other end of a connection: the kernel says which socket it is, and whose.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";

/** Over IPv4, while the connection lasts; null: none of them. */
export function whoAsks({ remotePort = 0, localPort = 0 }: Socket, pids: readonly number[]): number | null {
  const [theirs, ours] = [portText(remotePort), portText(localPort)];
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const inodes = lines.flatMap((line) => {
    const [, local = "", remote = "", , , , , , , inode = ""] = line.trim().split(/\s+/);
    return local.endsWith(theirs) && remote.endsWith(ours) ? [`socket:[${inode}]`] : [];
  });
  return pids.find((pid) => filesOf(pid).some((file) => inodes.includes(file))) ?? null;
}

const portText = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;

function filesOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      return [];
    }
  });
}

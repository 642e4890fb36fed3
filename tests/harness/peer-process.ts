// Finds the local process at the other end of a connection, by its socket in /proc.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";

/** Works for open IPv4 connections. Returns null when no process matches. */
export function peerProcess({ remotePort = 0, localPort = 0 }: Socket, pids: readonly number[]): number | null {
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

// Whether a member may continue as the only one of its cluster. Only where the others together are no majority: else they
// may continue without it, and there would be two clusters. Without a majority, a restarted member serves no clients, but
// its peer port names the members.

import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { EtcdTls } from "../client/channel.ts";
import { ManagedError } from "./managed-error.ts";

/** Of two members, the other one alone is no majority. */
const MOST_MEMBERS = 2;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;

/** `url`: of the member's own peer port. */
export async function refuseAlone(url: string, tls: EtcdTls | null): Promise<void> {
  const members = await readMembers(url, tls);
  if (members <= MOST_MEMBERS) return;
  throw new ManagedError(
    "not_alone",
    `this cluster has ${members} members, and the others may continue without this one: replace the lost members with --join ADDRESS --replace, or restore a backup with --bootstrap --recover-from`,
  );
}

/** Returns the number of members, learners included. */
function readMembers(url: string, tls: EtcdTls | null): Promise<number> {
  const unknown = (why: string): ManagedError =>
    new ManagedError("not_alone", `the members of this cluster are not known: ${url}/members ${why}`);
  return new Promise((resolve, reject) => {
    const sent =
      tls === null
        ? httpRequest(`${url}/members`, { timeout: TIMEOUT_MS })
        : // The process at our own address; the name in its certificate may be another one.
          httpsRequest(`${url}/members`, { ...pairOf(tls), timeout: TIMEOUT_MS, checkServerIdentity: () => undefined });
    sent.on("response", (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (text.length > MAX_BYTES) sent.destroy(new Error("answers too much"));
      });
      response.on("end", () => {
        const count = countOf(text);
        if (count === null) reject(unknown(`answers with status ${response.statusCode}`));
        else resolve(count);
      });
    });
    sent.on("timeout", () => sent.destroy(new Error("does not answer")));
    sent.on("error", ({ message }) => reject(unknown(`fails: ${message}`)));
    sent.end();
  });
}

const pairOf = ({ ca, cert, key }: EtcdTls) => ({ ca, ...(cert === null || key === null ? {} : { cert, key }) });

function countOf(text: string): number | null {
  try {
    const members: unknown = JSON.parse(text);
    return Array.isArray(members) ? members.length : null;
  } catch {
    return null;
  }
}

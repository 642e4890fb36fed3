// Reads the member list from a member's peer address, and checks whether a member answers clients. A member that
// serves clients on loopback only reports its status to its own server only; its peer address shows that it
// runs and which members it knows.

import { request as requestPlain } from "node:http";
import { request as requestSecured } from "node:https";
import type { EtcdTls } from "./client/channel.ts";
import { createEtcdClient } from "./client/client.ts";

/** A list of members is a few kilobytes. */
const MAX_ANSWER_CHARS = 1_000_000;

export const answersPeers = async (peerUrl: string, tls: EtcdTls | null, timeoutMs: number): Promise<boolean> =>
  (await ask(peerUrl, "/version", tls, timeoutMs)) !== null;

/** Returns the peer addresses of all members, as this one knows them; `null` when it does not answer. */
export async function peersKnownBy(
  peerUrl: string,
  tls: EtcdTls | null,
  timeoutMs: number,
): Promise<readonly string[] | null> {
  const text = await ask(peerUrl, "/members", tls, timeoutMs);
  try {
    const members = JSON.parse(text ?? "") as readonly { readonly peerURLs?: readonly string[] }[];
    return members.flatMap(({ peerURLs = [] }) => peerURLs);
  } catch {
    return null;
  }
}

export async function answersClients(endpoint: string, tls: EtcdTls | null, timeoutMs: number): Promise<boolean> {
  const client = createEtcdClient({ endpoints: [endpoint], tls });
  try {
    await client.status(timeoutMs);
    return true;
  } catch {
    return false;
  } finally {
    client.close();
  }
}

function ask(peerUrl: string, path: string, tls: EtcdTls | null, timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const secured = peerUrl.startsWith("https://");
    const identity = tls === null ? {} : { ca: tls.ca, cert: tls.cert ?? undefined, key: tls.key ?? undefined };
    const options = { signal: AbortSignal.timeout(timeoutMs), ...(secured ? identity : {}) };
    try {
      const call = (secured ? requestSecured : requestPlain)(new URL(path, peerUrl), options, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => {
          text = (text + chunk).slice(0, MAX_ANSWER_CHARS);
        });
        answer.once("error", () => resolve(null));
        answer.once("end", () => resolve(answer.statusCode === 200 ? text : null));
      });
      call.once("error", () => resolve(null));
      call.end();
    } catch {
      // The advertised URL is not an address.
      resolve(null);
    }
  });
}

// One JSON request to a server of the cluster, and whether an address speaks TLS. Node's `fetch` accepts no authority of
// a cluster.

import { type ClientRequest, request as requestPlain } from "node:http";
import { request as requestSecured } from "node:https";
import { connect } from "node:tls";
import type { TlsMaterial } from "../base/tls/material.ts";

/** A list of members is a few kilobytes. */
const MAX_ANSWER_CHARS = 1_000_000;

interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly tls: Pick<TlsMaterial, "ca" | "cert" | "key"> | null;
  readonly timeoutMs: number;
  /** Fails when there is no connection by then. */
  readonly connectTimeoutMs: number;
}

interface JsonAnswer {
  readonly status: number;
  /** `null` when it is not JSON. */
  readonly body: unknown;
}

export function postJson(
  url: string,
  { headers, body, tls, timeoutMs, connectTimeoutMs }: PostOptions,
): Promise<JsonAnswer> {
  return new Promise((resolve, reject) => {
    const secured = url.startsWith("https://");
    const identity = tls === null ? {} : { cert: tls.cert, key: tls.key, ca: tls.ca ?? tls.cert };
    const options = {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      signal: AbortSignal.timeout(timeoutMs),
      ...(secured ? identity : {}),
    };
    const call: ClientRequest = (secured ? requestSecured : requestPlain)(new URL(url), options, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        text = (text + chunk).slice(0, MAX_ANSWER_CHARS);
      });
      answer.once("error", reject);
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, body: parsed(text) }));
    });
    const connecting = setTimeout(
      () => call.destroy(new Error(`no connection within ${connectTimeoutMs / 1_000} s`)),
      connectTimeoutMs,
    );
    const connected = () => clearTimeout(connecting);
    call.once("socket", (socket) => socket.once(secured ? "secureConnect" : "connect", connected));
    call.once("close", connected);
    call.once("error", reject);
    call.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** `address`: host:port. Whether a TLS handshake succeeds there, with whatever certificate. */
export function speaksTls(address: string, timeoutMs: number): Promise<boolean> {
  const cut = address.lastIndexOf(":");
  const host = address.slice(0, cut).replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(address.slice(cut + 1)), rejectUnauthorized: false });
    const answer = (result: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => answer(false), timeoutMs);
    socket.once("secureConnect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}

// One question to a service: does it take a connection (TCP), or answer a GET with a good status
// (HTTP)? Everything else is a failure with its reason.

import { request } from "node:http";
import { connect } from "node:net";
import type { Probe } from "../lifecycle/attempt.ts";

/** Where a node's own services answer. */
const HOST = "127.0.0.1";

/** Null: it is well. Never rejects. */
export function askProbe(probe: Probe): Promise<string | null> {
  return probe.kind === "tcp" ? askTcp(probe) : askHttp(probe);
}

function askTcp({ port, timeoutMs }: Probe): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port, timeout: timeoutMs });
    const settle = (answer: string | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => settle(null));
    socket.once("timeout", () => settle(`no connection within ${timeoutMs / 1000} s`));
    socket.once("error", (error) => settle(error.message));
  });
}

/** Redirects are well: somebody is there to send us elsewhere. */
const FIRST_BAD_STATUS = 400;

function askHttp({ port, path, timeoutMs }: Probe): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request({ host: HOST, port, path, method: "GET", agent: false }, (response) => {
      const { statusCode = 0 } = response;
      clearTimeout(timer);
      response.destroy();
      resolve(statusCode >= 200 && statusCode < FIRST_BAD_STATUS ? null : `it answered ${statusCode}`);
    });
    // For the whole exchange: a server that sends a byte now and then is not well.
    const timer = setTimeout(() => asked.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    asked.once("error", (error) => {
      clearTimeout(timer);
      resolve(error.message);
    });
    asked.end();
  });
}

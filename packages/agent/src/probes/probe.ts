// One question to a service: does it take a connection (TCP), or answer a GET with a good status
// (HTTP)? Everything else is a failure with its reason. A service in a network of its own is asked from inside it, by another process.

import { execFile } from "node:child_process";
import { request } from "node:http";
import { connect } from "node:net";
import type { Probe } from "../lifecycle/attempt.ts";
import { hasOwnNetwork } from "../network/inside.ts";

/** Where a node's own services answer. */
const HOST = "127.0.0.1";

/** Null: it is well. Never rejects. `beside`: a process of the service; null: it is in the node's network. */
export async function askProbe(probe: Probe, beside: number | null = null): Promise<string | null> {
  if (beside !== null && (await hasOwnNetwork(beside))) return askInside(probe, beside);
  return probe.kind === "tcp" ? askTcp(probe) : askHttp(probe);
}

/** Ends with 0 where it is well; says why not where it is not. */
const INSIDE = `
const [kind, port, path] = process.argv.slice(1);
const why = (text) => { process.stdout.write(text); process.exitCode = 1; };
const at = { host: "${HOST}", port: Number(port) };
if (kind === "tcp") {
  const socket = require("node:net").connect(at, () => socket.destroy());
  socket.on("error", (error) => why(error.message));
} else {
  const asked = require("node:http").get({ ...at, path, agent: false }, (response) => {
    response.destroy();
    if (response.statusCode < 200 || response.statusCode >= 400) why("it answered " + response.statusCode);
  });
  asked.on("error", (error) => why(error.message));
}`;

/** Of the process that asks, until it runs. */
const START_MS = 2_000;

function askInside({ kind, port, path, timeoutMs }: Probe, pid: number): Promise<string | null> {
  const words = [`--target=${pid}`, "--net", "--", process.execPath, "-e", INSIDE, kind, String(port), path];
  return new Promise((resolve) => {
    execFile("nsenter", words, { timeout: timeoutMs + START_MS, killSignal: "SIGKILL" }, (error, stdout) => {
      if (error === null) return resolve(null);
      const late = error.killed === true ? `no answer within ${timeoutMs / 1000} s` : "";
      resolve(stdout || late || error.message);
    });
  });
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

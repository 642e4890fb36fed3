// One liveness probe of a service: a TCP connection, or a GET with a good status. Every other answer is a failure with
// its reason. A service in its own network namespace is probed from inside it, by another process.

import { request } from "node:http";
import { connect } from "node:net";
import type { pb } from "@lattice/wire";
import { execFile, HELPER_ENVIRONMENT } from "../base/programs.ts";
import { hasOwnNetwork } from "../network/inside.ts";

/** The address of services in the node's network. */
const HOST = "127.0.0.1";

/**
 * Resolves to null when the service is healthy, else to the reason. Never rejects. `beside`: a process of the service,
 * or null when it uses the node's network.
 */
export async function askProbe(probe: pb.LivenessProbe, beside: number | null = null): Promise<string | null> {
  if (beside !== null && (await hasOwnNetwork(beside))) return askInside(probe, beside);
  return probe.probeType === "http" ? askHttp(probe) : askTcp(probe);
}

/** Exits with 0 when the service is healthy, else prints the reason. */
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

/** Startup time of the probing process. */
const START_MS = 2_000;

function askInside({ probeType, port, path, timeoutSecs }: pb.LivenessProbe, pid: number): Promise<string | null> {
  const kind = probeType === "http" ? "http" : "tcp";
  const words = [`--target=${pid}`, "--net", "--", process.execPath, "-e", INSIDE, kind, String(port), path];
  return new Promise((resolve) => {
    execFile(
      "nsenter",
      words,
      { timeout: timeoutSecs * 1000 + START_MS, killSignal: "SIGKILL", env: HELPER_ENVIRONMENT },
      (error, stdout) => {
        if (error === null) return resolve(null);
        const late = error.killed === true ? `no answer within ${timeoutSecs} s` : "";
        resolve(stdout || late || error.message);
      },
    );
  });
}

function askTcp({ port, timeoutSecs }: pb.LivenessProbe): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port, timeout: timeoutSecs * 1000 });
    const settle = (answer: string | null): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => settle(null));
    socket.once("timeout", () => settle(`no connection within ${timeoutSecs} s`));
    socket.once("error", (error) => settle(error.message));
  });
}

/** A redirect counts as healthy. */
const FIRST_BAD_STATUS = 400;

function askHttp({ port, path, timeoutSecs }: pb.LivenessProbe): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request({ host: HOST, port, path, method: "GET", agent: false }, (response) => {
      const { statusCode = 0 } = response;
      clearTimeout(timer);
      response.destroy();
      resolve(statusCode >= 200 && statusCode < FIRST_BAD_STATUS ? null : `it answered ${statusCode}`);
    });
    // For the whole exchange: a server that sends single bytes slowly is unhealthy.
    const late = (): void => void asked.destroy(new Error(`no answer within ${timeoutSecs} s`));
    const timer = setTimeout(late, timeoutSecs * 1000);
    asked.once("error", (error) => {
      clearTimeout(timer);
      resolve(error.message);
    });
    asked.end();
  });
}

// Starts the gateway processes: from a domain to the data gateway, and from the node to a port inside. They belong to
// the domain and the attempt, not to the agent: they survive a restart of the agent and end when they are no longer
// needed. A missing one is detected and started again.

import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HELPER_ENVIRONMENT, spawn } from "../../base/programs.ts";
import { ownCommandLine } from "../../host/own-process.ts";
import { GATEWAY_ID } from "../../host/user/check-account.ts";

/** Starting takes a process and a helper; a longer wait means that it hangs. */
const LIMIT_MS = 10_000;
const PROGRAM = "lattice-gateway.js";

/** One direction over a border. */
export type Gateway =
  /** From inside a namespace, at the gateway's own address, for as long as the namespace is there. */
  | { readonly kind: "out"; readonly namespace: string; readonly gateway: string }
  /** From the node to a port inside. `mark`: a file that goes with the attempt. */
  | { readonly kind: "in"; readonly namespace: string; readonly port: number; readonly mark: string };

/**
 * Rejects when connections would not be passed on, for example when another process has the port. A second outgoing
 * gateway finds the place taken and exits.
 */
export function openGateway(route: Gateway): Promise<void> {
  if (route.kind === "out") return begin([], wordsOf(route), `the way to the data gateway ${route.gateway}`);
  return begin(["nsenter", `--net=${route.namespace}`, "--"], wordsOf(route), `port ${route.port} of this node`);
}

/** Returns the gateways without a process. */
export async function missingGateways(gateways: readonly Gateway[]): Promise<readonly Gateway[]> {
  if (gateways.length === 0) return [];
  const running = await runningGateways(PROGRAM);
  return gateways.filter((route) => {
    const [kind, place, file, target] = wordsOf(route);
    // The process id in its words names the agent's network namespace; that agent may be gone.
    return !running.some((words) => {
      const samePlace = route.kind === "in" || words[1] === place;
      return words[0] === kind && samePlace && words[2] === file && words[3] === target;
    });
  });
}

export const describeGateway = (route: Gateway): string =>
  route.kind === "out" ? `to the data gateway ${route.gateway}` : `to port ${route.port}`;

const wordsOf = (route: Gateway): readonly string[] =>
  route.kind === "out"
    ? ["out", route.namespace, route.namespace, route.gateway]
    : ["in", `/proc/${process.pid}/ns/net`, route.mark, String(route.port)];

function begin(before: readonly string[], words: readonly string[], what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const [program = "", ...args] = [...before, process.execPath, programFile(), ...words];
    const child = spawn(program, args, {
      cwd: "/",
      detached: true,
      env: HELPER_ENVIRONMENT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let errorText = "";
    const settle = (problem: string | null): void => {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      if (problem === null) resolve();
      else reject(new Error(`${what} cannot be opened: ${problem}`));
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      settle("it takes too long");
    }, LIMIT_MS);
    child.stderr?.on("data", (bytes: Buffer) => {
      errorText = `${errorText}${bytes}`.slice(0, 500);
    });
    child.stdout?.once("data", () => settle(null));
    child.once("error", (error) => settle(error.message));
    child.once("close", (code) => settle(code === 0 ? null : errorText.trim() || `exit ${code}`));
  });
}

function programFile(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, PROGRAM);
  return existsSync(beside) ? beside : join(here, "..", "..", "..", "dist", PROGRAM);
}

/** The arguments of each process. */
async function runningGateways(program: string): Promise<readonly (readonly string[])[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const own = await groupOf("self");
  const lines = await Promise.all(names.map((name) => commandLineOf(name, own)));
  return lines.flatMap((line) => {
    const words = line.slice(0, -1);
    const at = words.findIndex((word) => word.endsWith(`/${program}`));
    return at < 0 ? [] : [words.slice(at + 1)];
  });
}

/** Gateways give up the agent's user for their own, which no job has; a container of others may, in another group. */
async function commandLineOf(pid: string, own: string): Promise<readonly string[]> {
  const group = await groupOf(pid);
  if (group !== own && group.includes("/lattice/")) return [];
  return (await ownCommandLine(Number(pid), GATEWAY_ID)) ?? [];
}

const groupOf = (pid: string): Promise<string> => readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");

// What must be true again soon after any fault: every server is ready and takes a submission, every node is ready.
import { eventually, sleep } from "../../harness/eventually.ts";
import type { NodeJson } from "../../harness/rest.ts";
import { NODES, type Stage } from "../stage.ts";
import type { Scene } from "./fault.ts";

const WITHIN_MS = 60_000;

export async function recovered({ stage, load }: Scene): Promise<readonly string[]> {
  const complaints: string[] = [];
  for (const { n } of stage.servers) {
    await eventually({ what: `server ${n} is ready`, withinMs: WITHIN_MS, everyMs: 200 }, async () =>
      (await isReady(stage, n)) ? true : null,
    ).catch((error: Error) => complaints.push(error.message));
  }
  await eventually({ what: "every node is ready", withinMs: WITHIN_MS, everyMs: 300 }, async () =>
    (await notReady(stage)).length === 0 ? true : null,
  ).catch(async (error: Error) =>
    complaints.push(`${error.message}: ${(await notReady(stage).catch(String)).toString()}`),
  );
  for (const { n } of stage.servers) {
    await load.one({ seconds: 0.1, first: n }).catch((error: Error) => complaints.push(error.message));
  }
  return complaints;
}

export async function isReady(stage: Stage, n: number): Promise<boolean> {
  const answer = await stage.api(n, "GET", "/readyz").catch(() => null);
  return answer?.status === 200;
}

/** Nodes that are not ready and connected, by any server's word. */
export async function notReady(stage: Stage): Promise<readonly string[]> {
  const answer = await stage.api<{ nodes?: NodeJson[] }>(await stage.leader(), "GET", "/nodes");
  const ready = (answer.body.nodes ?? []).filter((node) => node.state === "ready" && node.connected === true);
  const missing = NODES - (answer.body.nodes ?? []).length;
  const names = (answer.body.nodes ?? [])
    .filter((node) => !ready.includes(node))
    .map(({ id, state }) => `${id} ${state}`);
  return missing > 0 ? [...names, `${missing} unknown`] : names;
}

/** Waits until a look answers yes; false when it never does. */
export async function becomes(withinMs: number, look: () => Promise<boolean> | boolean): Promise<boolean> {
  const until = Date.now() + withinMs;
  for (;;) {
    if (await look()) return true;
    if (Date.now() > until) return false;
    await sleep(100);
  }
}

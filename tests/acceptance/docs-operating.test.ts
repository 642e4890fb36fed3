// The pages on several servers are run as they are written, one after the other, on one cluster: every
// block opened with `sh run` in a shell of its own, those with `background` until the end. The addresses
// of the pages become others of this machine, so that nothing else that runs here is in the way. A line
// `# => text` states what the output must contain; a remark `<!-- test: ... -->` what happens to a server.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { follow, startShell } from "../harness/pages.ts";
import { endAllIn, kill, processesIn } from "../harness/processes.ts";
import { root } from "../harness/program.ts";

const PAGES = ["several-servers.md", "replacing-a-member.md"];

type Step =
  | { readonly kind: "run" | "background"; readonly text: string }
  | { readonly kind: "lose" | "ends"; readonly server: string };

const dir = mkdtempSync(join(tmpdir(), "lattice-test-"));
const network = `127.${1 + (process.pid % 250)}.${1 + ((process.pid >> 8) % 250)}`;
const PLACE = { cwd: dir, env: { HOME: dir, LATTICE_API_URL: `http://${network}.1:8080` } };
const background: { readonly text: string; readonly child: ChildProcess }[] = [];
afterAll(async () => {
  for (const { child } of background) child.kill("SIGKILL");
  await endAllIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

const stepsOf = (page: string): readonly Step[] => {
  const text = readFileSync(join(root, "docs/operating", page), "utf8").replaceAll("127.0.0.", `${network}.`);
  const found = text.matchAll(/^```sh run( background)?\n([\s\S]*?)^```$|^<!-- test: (?:lose (\S+)|(\S+) ends) -->$/gm);
  return [...found].map(([, detached, block = "", lost, ended]): Step => {
    if (lost !== undefined) return { kind: "lose", server: lost };
    if (ended !== undefined) return { kind: "ends", server: ended };
    return { kind: detached === undefined ? "run" : "background", text: block };
  });
};

test.each(PAGES)("%s does what it says", async (page) => {
  const steps = stepsOf(page);
  expect(steps.length).toBeGreaterThan(5);
  for (const step of steps) await perform(step);
});

async function perform(step: Step): Promise<void> {
  switch (step.kind) {
    case "run":
      return follow(step.text, PLACE);
    case "background":
      return startBlock(step.text);
    case "lose": {
      for (const pid of processesIn(join(dir, "data", step.server))) kill(pid, "SIGKILL");
      await ended(step.server);
      return rmSync(join(dir, "data", step.server), { recursive: true, maxRetries: 9 });
    }
    case "ends":
      return ended(step.server);
  }
}

const ended = (server: string): Promise<void> =>
  eventually({ what: `${server} has ended` }, () => {
    const started = background.findLast(({ text }) => text.includes(`${server}.yaml`));
    return started?.child.exitCode === null && started.child.signalCode === null ? null : undefined;
  });

/** A server until it says that it is ready; what an agent is ready for shows in what follows. */
async function startBlock(text: string): Promise<void> {
  const child = startShell(`exec ${text.trim()}`, PLACE);
  background.push({ text, child });
  let output = "";
  let errors = "";
  if (!text.startsWith("lattice-server")) return;
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000);
  });
  await eventually({ what: `ready: ${text}` }, () => {
    if (child.exitCode !== null) throw new Error(`${text} ended with ${child.exitCode}\n${errors}`);
    return /^\{.*"ready":true/m.test(output) ? true : null;
  });
}

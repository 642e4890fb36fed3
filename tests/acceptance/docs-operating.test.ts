// Runs the pages on several servers in order on one cluster: every `sh run` block in its own shell, `background`
// blocks until the end. Addresses are replaced by unused ones of this machine. A line `# => text` states expected
// output; `<!-- test: ... -->` states what happens to a server.
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { runBlock, startShell } from "../harness/pages.ts";
import { endProcessesIn, kill, processesIn } from "../harness/processes.ts";
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
  await endProcessesIn(dir);
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
      return runBlock(step.text, PLACE);
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

/** Starts a server and waits until it is ready; later steps show whether an agent is. */
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

// One step of srun: tasks in an allocation, their output as it comes, and how they failed in Slurm's
// words.

import type { LaunchRequest } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { Failures } from "../commands/launch/failures.ts";
import { inputTo, sendInput } from "../commands/launch/input.ts";
import { labelled, plain } from "../commands/launch/label.ts";
import { patienceOf, takenOver } from "../commands/launch/taken-over.ts";
import { rawTerminal } from "../commands/launch/terminal.ts";
import { complain, type Desk } from "./desk.ts";
import type { StepOutput } from "./step-output.ts";

export interface Step {
  readonly id: string;
  readonly request: LaunchRequest;
  readonly label: boolean;
  readonly output: StepOutput;
  readonly signal: AbortSignal;
}

const INTERRUPTED = 130;

/** Answers the exit status of the tasks. */
export async function runStep(
  { client, program }: Desk,
  { id, request, label, output, signal }: Step,
): Promise<number> {
  const done = new AbortController();
  const stop = AbortSignal.any([signal, done.signal]);
  const terminal = request.pty === true ? rawTerminal(process.stdin) : null;
  const before = takenOver(process.env);
  const outlet = label ? labelled(output.write, before?.rests) : plain(output.write);
  const options = { signal: stop, ...patienceOf(process.env), ...(before && { resume: before.resume }) };
  const failures = new Failures();
  try {
    for await (const event of client.tasks.launch(id, request, options)) {
      if (event.kind === "started" && (request.input === true || request.pty === true))
        sendInput(inputTo(client, id, event.launchId, request.pty === true), process.stdin, stop);
      if (event.kind === "output") await outlet.write(event);
      if (event.kind === "task_end") failures.add(event);
      if (event.kind !== "end") continue;
      await outlet.end();
      for (const line of failures.lines()) complain(`${program}: error: ${line}`);
      if (failures.isEmpty() && event.reason !== "") complain(`${program}: error: ${event.reason}`);
      return event.exitCode;
    }
    throw new ProblemError("connection_failed", { detail: "the step broke off without an end" });
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    terminal?.restore();
    done.abort();
    await output.close();
  }
}

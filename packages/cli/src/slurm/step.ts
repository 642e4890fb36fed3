// One step of srun: runs tasks in an allocation, copies their output, and reports failures in Slurm's words.

import type { LaunchRequest } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { readHandover, reconnectOptions } from "../launch/handover.ts";
import { inputTo, sendInput } from "../launch/input.ts";
import { TaskFailures } from "../launch/task-failures.ts";
import { labelledOutput, plainOutput } from "../launch/task-output.ts";
import { rawTerminal } from "../launch/terminal.ts";
import { printError, type SlurmContext } from "./context.ts";
import type { StepOutput } from "./step-output.ts";

interface StepSpec {
  readonly id: string;
  readonly request: LaunchRequest;
  readonly label: boolean;
  readonly output: StepOutput;
  readonly signal: AbortSignal;
}

const INTERRUPTED = 130;

/** Returns the exit status of the tasks. */
export async function runStep(
  { client, program }: SlurmContext,
  { id, request, label, output, signal }: StepSpec,
): Promise<number> {
  const done = new AbortController();
  const stop = AbortSignal.any([signal, done.signal]);
  const terminal = request.pty === true ? rawTerminal(process.stdin) : null;
  const handover = readHandover(process.env);
  const outlet = label ? labelledOutput(output.write, handover?.partialLines) : plainOutput(output.write);
  const options = { signal: stop, ...reconnectOptions(process.env), ...(handover && { resume: handover.resume }) };
  const failures = new TaskFailures();
  try {
    for await (const event of client.tasks.launch(id, request, options)) {
      if (event.kind === "started" && (request.input === true || request.pty === true))
        sendInput(inputTo(client, id, event.launchId, request.pty === true), process.stdin, stop);
      if (event.kind === "output") await outlet.write(event);
      if (event.kind === "task_end") failures.add(event);
      if (event.kind !== "end") continue;
      await outlet.end();
      for (const line of failures.lines()) printError(`${program}: error: ${line}`);
      if (failures.isEmpty() && event.reason !== "") printError(`${program}: error: ${event.reason}`);
      return event.exitCode;
    }
    throw new ProblemError("connection_failed", {
      detail: "the server closed the step's stream before the tasks ended",
    });
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    terminal?.restore();
    done.abort();
    await output.close();
  }
}

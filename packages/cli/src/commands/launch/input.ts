// Passes standard input on to the first task of a launch, and the size of the terminal whenever it changes: in order, one piece at a
// time. While the server is away it is tried again, and pieces say where they belong, so that none is taken twice. When the
// launch is over what comes is of no use to anybody; that is not an error.

import type { LatticeClient, TaskInput } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";

export interface InputTarget {
  readonly client: LatticeClient;
  readonly id: string;
  readonly launchId: string;
  /** Whose size is the task's; null: the task has no terminal. */
  readonly screen: NodeJS.WriteStream | null;
}

const PAUSE_MS = 250;

/** `pty`: the task has a terminal, of the size of ours. */
export const inputTo = (client: LatticeClient, id: string, launchId: string, pty: boolean): InputTarget => ({
  ...{ client, id, launchId },
  screen: pty ? process.stdout : null,
});

export function sendInput(target: InputTarget, from: NodeJS.ReadStream, signal: AbortSignal): void {
  const { screen } = target;
  let last: Promise<void> = Promise.resolve();
  const inOrder = (input: TaskInput): Promise<void> => {
    last = last.then(() => send(target, input, signal));
    return last;
  };
  const resized = (): void => {
    if (screen?.isTTY === true) inOrder({ rows: screen.rows, columns: screen.columns }).catch(() => undefined);
  };
  screen?.on("resize", resized);
  const copy = async (): Promise<void> => {
    let offset = 0;
    for await (const data of from) {
      await inOrder({ data: data as Uint8Array, offset });
      offset += (data as Uint8Array).length;
    }
    await inOrder({ end: true, offset });
  };
  // Whoever still types keeps the program from ending.
  signal.addEventListener(
    "abort",
    () => {
      screen?.off("resize", resized);
      from.destroy();
    },
    { once: true },
  );
  copy().catch(() => undefined);
}

async function send({ client, id, launchId }: InputTarget, input: TaskInput, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await client.tasks.sendInput(id, launchId, input, { signal });
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** A server that leads anew knows the launch when its nodes have come. A launch that is over ends this by the signal. */
const mayPass = (error: unknown): boolean =>
  error instanceof ProblemError &&
  (error.problem.retryable || ["connection_failed", "unknown_launch", "not_leader"].includes(error.problem.code));

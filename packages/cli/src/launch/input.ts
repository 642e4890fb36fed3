// Sends standard input, and terminal size changes, to the first task of a launch, in order and one request at a time.
// While the server is unreachable it retries; chunks carry their offset, so that none is taken twice. Input after the
// end of the launch is dropped without error.

import type { LatticeClient, TaskInput } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";

interface InputTarget {
  readonly client: LatticeClient;
  readonly id: string;
  readonly launchId: string;
  /** The terminal whose size the task follows; `null` when the task has no terminal. */
  readonly screen: NodeJS.WriteStream | null;
}

const RETRY_MS = 250;

/** With `pty` the task has a terminal of the size of ours. */
export const inputTo = (client: LatticeClient, id: string, launchId: string, pty: boolean): InputTarget => ({
  client,
  id,
  launchId,
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
  // An open standard input would keep the process alive.
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
      if (signal.aborted || !isTransient(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** A new leader knows the launch only after its nodes have reconnected, so `unknown_launch` is retried as well. */
const isTransient = (error: unknown): boolean =>
  error instanceof ProblemError &&
  (error.problem.retryable || ["connection_failed", "unknown_launch", "not_leader"].includes(error.problem.code));

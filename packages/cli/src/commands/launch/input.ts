// Passes standard input on to the first task of a launch, in order, one piece at a time. When the
// launch is over what comes is of no use to anybody; that is not an error.

import type { LatticeClient } from "@lattice/sdk";

export interface InputTarget {
  readonly client: LatticeClient;
  readonly id: string;
  readonly launchId: string;
}

export function sendInput({ client, id, launchId }: InputTarget, from: NodeJS.ReadStream, signal: AbortSignal): void {
  const send = (data: Uint8Array, end: boolean): Promise<void> =>
    client.tasks.sendInput(id, launchId, { data, end }, { signal });
  const copy = async (): Promise<void> => {
    for await (const data of from) await send(data as Uint8Array, false);
    await send(new Uint8Array(), true);
  };
  // Whoever still types keeps the program from ending.
  signal.addEventListener("abort", () => void from.destroy(), { once: true });
  copy().catch(() => undefined);
}

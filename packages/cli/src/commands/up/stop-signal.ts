// One wish to stop out of many signals: Ctrl-C, a closed terminal, or SIGTERM. Terminals and npm
// both pass Ctrl-C on, so repeats within a moment are the same wish; a later one, by a person who
// has lost patience, ends this process at once.

import { isatty } from "node:tty";

export interface StopSignal {
  readonly signal: AbortSignal;
  readonly requested: Promise<void>;
  release(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const SAME_WISH_MS = 2_000;

export function stopSignal(): StopSignal {
  const controller = new AbortController();
  let firstAt = 0;
  // Asked now: once it is gone, nothing says that there was one.
  const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));
  let terminalLost = false;
  const onSignal = (name: NodeJS.Signals) => {
    if (name === "SIGHUP" && hasTerminal) terminalLost = true;
    if (firstAt === 0) firstAt = Date.now();
    else if (Date.now() - firstAt > SAME_WISH_MS) process.exit(130);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    requested: new Promise((resolve) => {
      // The timer keeps this process alive while nothing else does.
      const alive = setInterval(() => {}, 60_000);
      controller.signal.addEventListener("abort", () => {
        clearInterval(alive);
        resolve();
      });
    }),
    release: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
      controller.abort();
      // At its end Node sets the terminal back and aborts where there is none any more, so this
      // process ends as the signal itself would have ended it.
      if (terminalLost) process.kill(process.pid, "SIGHUP");
    },
  };
}

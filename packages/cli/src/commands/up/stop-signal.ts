// Combines Ctrl-C, a closed terminal and SIGTERM into one stop request. The terminal and npm both forward Ctrl-C, so
// repeats within two seconds count once; a later repeat ends this process at once.

import { isatty } from "node:tty";

interface StopSignal {
  readonly signal: AbortSignal;
  readonly requested: Promise<void>;
  release(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const REPEAT_MS = 2_000;

export function stopSignal(): StopSignal {
  const controller = new AbortController();
  let firstAt = 0;
  // Checked now, because a closed terminal can no longer be detected.
  const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));
  let terminalLost = false;
  const onSignal = (name: NodeJS.Signals) => {
    if (name === "SIGHUP" && hasTerminal) terminalLost = true;
    if (firstAt === 0) firstAt = Date.now();
    else if (Date.now() - firstAt > REPEAT_MS) process.exit(130);
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
      // At exit Node restores the terminal and aborts when it is gone, so the process ends by the signal instead.
      if (terminalLost) process.kill(process.pid, "SIGHUP");
    },
  };
}

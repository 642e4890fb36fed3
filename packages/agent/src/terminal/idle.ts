// Warns an idle terminal that its walltime is running. Once per idle period; nothing is ended, since a long
// computation may be running.

interface IdleWatch {
  typed(): void;
  close(): void;
}

/** Input only records the time; the timer checks it at most this often. */
const LOOKS_PER_SILENCE = 10;

export function idleWatch(
  idleMs: number,
  walltimeLeftMs: () => number | null,
  notice: (text: string) => void,
): IdleWatch {
  if (idleMs <= 0) return { typed: () => undefined, close: () => undefined };
  let lastMs = performance.now();
  let hasWarned = false;
  const look = (): void => {
    const silentMs = performance.now() - lastMs;
    if (silentMs < idleMs || hasWarned) return;
    hasWarned = true;
    const left = walltimeLeftMs();
    const walltime = left === null ? "There is no walltime." : `Walltime remaining: ${spanText(left)}.`;
    notice(`Warning: session idle for ${spanText(silentMs)}. ${walltime}`);
  };
  const timer = setInterval(look, Math.max(10, idleMs / LOOKS_PER_SILENCE));
  timer.unref();
  return {
    typed() {
      lastMs = performance.now();
      hasWarned = false;
    },
    close: () => clearInterval(timer),
  };
}

/** "3h 12m", "30 minutes", "12 s". */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} minutes`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

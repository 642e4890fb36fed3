// A status line on standard error: animated on a terminal, elsewhere each new text is one line.

export interface Spinner {
  /** Replaces the text. Without a terminal it is printed when it differs from the last one. */
  update(text: string): void;
  done(text: string): void;
  stop(): void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;

export function startSpinner(text: string): Spinner {
  if (process.stderr.isTTY !== true) {
    let last = text;
    const update = (next: string) => {
      if (next !== last) process.stderr.write(`${next}\n`);
      last = next;
    };
    return { update, done: (result) => void process.stderr.write(`${result}\n`), stop: () => {} };
  }
  let turn = 0;
  let shown = text;
  const draw = () => process.stderr.write(`\r\u001b[K${FRAMES[turn++ % FRAMES.length]} ${cut(shown)}`);
  draw();
  const timer = setInterval(draw, FRAME_MS);
  const stop = () => {
    clearInterval(timer);
    process.stderr.write("\r\u001b[K");
  };
  return {
    update: (next) => {
      shown = next;
    },
    stop,
    done: (result) => {
      stop();
      process.stderr.write(`${result}\n`);
    },
  };
}

/** A wrapped line cannot be overwritten, so the text is cut to one line. */
function cut(text: string): string {
  const width = (process.stderr.columns ?? 80) - 3;
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`;
}

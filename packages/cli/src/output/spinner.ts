// A line that shows what is being waited for. On a terminal it moves; elsewhere it is printed once.

export interface Spinner {
  /** Elsewhere than on a terminal, each new text is printed once. */
  update(text: string): void;
  done(text: string): void;
  stop(): void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;

export function startSpinner(text: string): Spinner {
  if (process.stderr.isTTY !== true) {
    let said = text;
    const update = (next: string) => {
      if (next !== said) process.stderr.write(`${next}\n`);
      said = next;
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

/** A line that wraps could not be drawn over. */
function cut(text: string): string {
  const room = (process.stderr.columns ?? 80) - 3;
  return text.length <= room ? text : `${text.slice(0, Math.max(1, room - 1))}…`;
}

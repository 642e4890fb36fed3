// A line that shows what is being waited for. On a terminal it moves; elsewhere it is printed once.

export interface Spinner {
  done(text: string): void;
  stop(): void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;

export function startSpinner(text: string): Spinner {
  if (process.stderr.isTTY !== true) {
    return { done: (result) => void process.stderr.write(`${result}\n`), stop: () => {} };
  }
  let turn = 0;
  const draw = () => process.stderr.write(`\r\u001b[K${FRAMES[turn++ % FRAMES.length]} ${text}`);
  draw();
  const timer = setInterval(draw, FRAME_MS);
  const stop = () => {
    clearInterval(timer);
    process.stderr.write("\r\u001b[K");
  };
  return {
    stop,
    done: (result) => {
      stop();
      process.stderr.write(`${result}\n`);
    },
  };
}

// Bars and sparklines of block characters.

const BAR_WIDTH = 24;
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const LEVELS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** Returns a bar that is full at 1 and above. */
export function bar(fraction: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, fraction)) * BAR_WIDTH * 8);
  const filled = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  return filled + "░".repeat(BAR_WIDTH - filled.length);
}

/** Days without usage are dots, to distinguish them from a little usage. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 0);
  return values
    .map((value) => (value <= 0 ? "·" : (LEVELS[Math.min(7, Math.floor((value / most) * 8))] ?? "█")))
    .join("");
}

// Small pictures made of block characters.

const BAR_WIDTH = 24;
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const LEVELS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** Full at 1 and beyond. */
export function bar(fraction: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, fraction)) * BAR_WIDTH * 8);
  const filled = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  return filled + "░".repeat(BAR_WIDTH - filled.length);
}

/** Days without any use are dots, so that a little is told from nothing. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values, 0);
  return values
    .map((value) => (value <= 0 ? "·" : (LEVELS[Math.min(7, Math.floor((value / most) * 8))] ?? "█")))
    .join("");
}

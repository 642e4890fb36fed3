// Amounts as text. No locale: equal bytes everywhere.

/** "12.3 s", "4.5 min", "2.1 hr", "3.0 d". */
export function time(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${(seconds / 60).toFixed(1)} min`;
  return seconds < 172_800 ? `${(seconds / 3600).toFixed(1)} hr` : `${(seconds / 86_400).toFixed(1)} d`;
}

/** "1,234,567". */
export const whole = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** For a part between 0 and 1: "82.3%". */
export const percent = (part: number): string => `${(part * 100).toFixed(1)}%`;

/** A value relative to the baseline: "↑ 20%", "↓ 16%", "=". */
export function change(value: number, before: number): string {
  if (value === before) return "=";
  const arrow = value > before ? "↑" : "↓";
  if (before === 0) return arrow;
  return `${arrow} ${Math.round((Math.abs(value - before) / before) * 100)}%`;
}

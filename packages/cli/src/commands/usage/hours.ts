// Formats hours: whole numbers when large, and enough digits that a job of one second does not show as 0.

export function hoursText(hours: number | undefined): string {
  const value = hours ?? 0;
  const digits = value >= 100 ? 0 : value >= 1 ? 1 : 4;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

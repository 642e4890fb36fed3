// Hours as people read them: whole ones when there are many, and enough digits that a job of a second
// does not read as nothing.

export function hoursText(hours: number | undefined): string {
  const value = hours ?? 0;
  const digits = value >= 100 ? 0 : value >= 1 ? 1 : 4;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

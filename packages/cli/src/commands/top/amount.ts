// Formats a measured value and its unit; bytes in the largest unit that gives a number above one.

import { ABSENT } from "../../output/text.ts";

const SCALES = ["", "K", "M", "G", "T", "P"] as const;
const PLAIN: Readonly<Record<string, string>> = { percent: "%", watts: "W", microseconds: "µs" };

export function amountText(value: number | undefined, unit = ""): readonly [string, string] {
  if (value === undefined) return [ABSENT, PLAIN[unit] ?? unit];
  if (unit !== "bytes" && unit !== "bytes_per_second") return [value.toFixed(1), PLAIN[unit] ?? unit];
  let scaled = value;
  let scale = 0;
  while (scaled >= 1000 && scale < SCALES.length - 1) {
    scaled /= 1000;
    scale += 1;
  }
  return [scaled.toFixed(1), `${SCALES[scale]}B${unit === "bytes" ? "" : "/s"}`];
}

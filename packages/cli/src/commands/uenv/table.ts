// The columns of the image table, and sizes in bytes.

import type { Image } from "@lattice/sdk";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";

export const imageColumns: readonly Column<Image>[] = [
  { header: "UENV", value: ({ name }) => name, flexible: true },
  { header: "DIGEST", value: ({ digest }) => digest?.replace("sha256:", "").slice(0, 12) || ABSENT },
  { header: "SIZE", value: ({ size_bytes }) => bytesText(size_bytes ?? 0), align: "right" },
  { header: "SIGNED", value: ({ signed }) => (signed === true ? "yes" : "no") },
  { header: "VIEWS", value: ({ views = [] }) => views.map(({ name }) => name).join(",") || ABSENT, flexible: true },
  { header: "DESCRIPTION", value: ({ description }) => description || ABSENT, flexible: true },
];

const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

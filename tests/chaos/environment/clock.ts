// The wall clock of one program, by libfaketime: a file contains its offset. Monotonic clocks are unaffected, as when
// an administrator sets the time. Jobs are unaffected, because they start with their own environment.
import { existsSync, writeFileSync } from "node:fs";

export interface ProgramClock {
  readonly environment: Readonly<Record<string, string>>;
  set(offsetSeconds: number): void;
}

const LIBRARIES = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib64/faketime/libfaketimeMT.so.1",
] as const;

export const clockLibrary = (): string | null => LIBRARIES.find((path) => existsSync(path)) ?? null;

/** Without a library the program keeps the machine's clock. */
export function createClock(file: string, library: string | null): ProgramClock {
  const set = (offsetSeconds: number): void =>
    writeFileSync(file, `${offsetSeconds < 0 ? "" : "+"}${Math.round(offsetSeconds)}\n`);
  if (library === null) return { environment: {}, set: () => {} };
  set(0);
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    },
    set,
  };
}

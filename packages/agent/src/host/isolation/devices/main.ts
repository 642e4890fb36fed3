// The program `lattice-device-filter`: denies devices to the processes of a cgroup v2 group by a BPF program. A separate
// process, so that the agent makes no foreign calls.
//
//   lattice-device-filter GROUP [MAJOR:MINOR ...]

import { bindDeviceProgram } from "./kernel.ts";
import { type Device, deviceProgram, MAX_DEVICES, parseDevice } from "./program.ts";

const [, , group = "", ...named] = process.argv;

function devicesOf(words: readonly string[]): readonly Device[] {
  if (words.length > MAX_DEVICES) throw new Error(`more than ${MAX_DEVICES} devices`);
  return words.map((word) => {
    const device = parseDevice(word);
    if (device === null) throw new Error(`"${word}" is not a device: MAJOR:MINOR`);
    return device;
  });
}

try {
  const denied = devicesOf(named);
  const koffi = await import("koffi");
  bindDeviceProgram(koffi.default ?? koffi, deviceProgram(denied), group);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

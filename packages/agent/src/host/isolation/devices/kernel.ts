// The two system calls that load a BPF program and attach it to a control group. It stays attached after this process
// ends, until the group is removed. Programs attached by others to the same group, or to a parent, also apply.

import { closeSync, openSync } from "node:fs";
import { arch, endianness } from "node:os";
import type * as koffiModule from "koffi";

type Koffi = Pick<typeof koffiModule, "load" | "address" | "errno" | "os">;

/** The number of the call named bpf. */
const CALLS: Readonly<Record<string, number>> = { x64: 321, arm64: 280 };
const LOAD_PROGRAM = 5;
const ATTACH = 8;
const CGROUP_DEVICE_PROGRAM = 15;
const CGROUP_DEVICE = 6;
/** Attached in addition to other programs. */
const ALLOW_MULTI = 2;
/** All seven words: it reads the last from the stack, also for calls that have fewer. */
const SYSCALL = "long syscall(long number, long command, void *attributes, long size, long d, long e, long f)";
const ATTRIBUTE_BYTES = 128;
const LICENSE = Buffer.from("Apache-2.0\0");

/** Throws when the kernel refuses. */
export function bindDeviceProgram(koffi: Koffi, program: Buffer, group: string): void {
  const number = CALLS[arch()];
  if (number === undefined || endianness() !== "LE") throw new Error(`device control is not supported on ${arch()}`);
  const syscall = koffi.load("libc.so.6").func(SYSCALL);
  const call = (command: number, attributes: Buffer, what: string): number => {
    const result = Number(syscall(number, command, attributes, attributes.length, 0, 0, 0));
    if (result < 0) throw new Error(`${what}: ${nameOf(koffi, koffi.errno())}`);
    return result;
  };

  const asked = Buffer.alloc(ATTRIBUTE_BYTES);
  asked.writeUInt32LE(CGROUP_DEVICE_PROGRAM, 0);
  asked.writeUInt32LE(program.length / 8, 4);
  asked.writeBigUInt64LE(BigInt(koffi.address(program)), 8);
  asked.writeBigUInt64LE(BigInt(koffi.address(LICENSE)), 16);
  asked.writeUInt32LE(CGROUP_DEVICE, 68);
  const loaded = call(LOAD_PROGRAM, asked, "the kernel refused the device program");
  const folder = openSync(group, "r");
  try {
    const bound = Buffer.alloc(ATTRIBUTE_BYTES);
    bound.writeUInt32LE(folder, 0);
    bound.writeUInt32LE(loaded, 4);
    bound.writeUInt32LE(CGROUP_DEVICE, 8);
    bound.writeUInt32LE(ALLOW_MULTI, 12);
    call(ATTACH, bound, `the device program cannot be attached to ${group}`);
  } finally {
    closeSync(folder);
    closeSync(loaded);
  }
}

function nameOf(koffi: Koffi, code: number): string {
  const known = Object.entries(koffi.os.errno).find(([, value]) => value === code);
  return known?.[0] ?? `error ${code}`;
}

// The BPF program that the kernel runs whenever a process of a control group opens or creates a device: it denies the
// named character devices and allows all others. Eight bytes per instruction. Pure.

/** A node has some dozen GPUs; the kernel's own limit is far above. */
export const MAX_DEVICES = 1_000;

export interface Device {
  readonly major: number;
  readonly minor: number;
}

/** Returns null when the text is not a pair of numbers. */
export function parseDevice(text: string): Device | null {
  const [, major, minor] = /^(\d{1,4}):(\d{1,7})$/.exec(text) ?? [];
  return major === undefined || minor === undefined ? null : { major: Number(major), minor: Number(minor) };
}

/** The program's input is `{ u32 access << 16 | type; u32 major; u32 minor }`; result 0 denies. */
export function deviceProgram(denied: readonly Device[]): Buffer {
  const lines = [
    load({ to: KIND, offset: 0 }),
    instruction({ code: AND, to: KIND, value: 0xffff }),
    load({ to: MAJOR, offset: 4 }),
    load({ to: MINOR, offset: 8 }),
    // Everything but character devices is allowed: jump past the checks.
    unless({ register: KIND, is: CHARACTER_DEVICE, skip: denied.length * LINES_EACH }),
    ...denied.flatMap(({ major, minor }) => [
      unless({ register: MAJOR, is: major, skip: 3 }),
      unless({ register: MINOR, is: minor, skip: 2 }),
      ...answer(0),
    ]),
    ...answer(1),
  ];
  return Buffer.concat(lines);
}

const LINES_EACH = 4;
const CHARACTER_DEVICE = 2;

const [RESULT, CONTEXT, KIND, MAJOR, MINOR] = [0, 1, 2, 3, 4] as const;
const LOAD_WORD = 0x61;
const AND = 0x57;
const SET = 0xb7;
const JUMP_UNLESS_EQUAL = 0x55;
const EXIT = 0x95;

const load = ({ to, offset }: { readonly to: number; readonly offset: number }): Buffer =>
  instruction({ code: LOAD_WORD, to, from: CONTEXT, offset });

const unless = (jump: { readonly register: number; readonly is: number; readonly skip: number }): Buffer =>
  instruction({ code: JUMP_UNLESS_EQUAL, to: jump.register, offset: jump.skip, value: jump.is });

const answer = (value: number): Buffer[] => [
  instruction({ code: SET, to: RESULT, value }),
  instruction({ code: EXIT }),
];

interface Instruction {
  readonly code: number;
  readonly to?: number;
  readonly from?: number;
  readonly offset?: number;
  readonly value?: number;
}

function instruction({ code, to = 0, from = 0, offset = 0, value = 0 }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt8(code, 0);
  bytes.writeUInt8((from << 4) | to, 1);
  bytes.writeInt16LE(offset, 2);
  bytes.writeInt32LE(value, 4);
  return bytes;
}

// Which GPUs of a shared node an attempt has: the lowest that nobody else holds. It is told in the
// attempt's environment, and kept from the others where devices can be kept from anybody. An attempt with the node
// for itself has all of them and is told nothing.

import { PrologueError } from "../../prologue/prologue-error.ts";

export interface GpuSlots {
  /** Throws when there are not as many left: the server believed otherwise. */
  take(key: string, count: number): readonly number[];
  /** An attempt of an earlier life of the agent still has these. */
  keep(key: string, gpus: readonly number[]): void;
  release(key: string): void;
}

export function gpuSlots(total: number): GpuSlots {
  const held = new Map<string, readonly number[]>();
  return {
    take(key, count) {
      const taken = new Set([...held].flatMap(([other, gpus]) => (other === key ? [] : gpus)));
      const free = Array.from({ length: total }, (_, gpu) => gpu).filter((gpu) => !taken.has(gpu));
      if (free.length < count) {
        throw new PrologueError("devices", `${count} GPUs are asked for and ${free.length} of ${total} are free`);
      }
      const gpus = free.slice(0, count);
      held.set(key, gpus);
      return gpus;
    },
    keep: (key, gpus) => void (gpus.length > 0 && held.set(key, gpus)),
    release: (key) => void held.delete(key),
  };
}

/** An empty list hides all of them from CUDA and ROCm. */
export function gpuVariables(gpus: readonly number[]): Record<string, string> {
  const list = gpus.join(",");
  return { CUDA_VISIBLE_DEVICES: list, ROCR_VISIBLE_DEVICES: list, LATTICE_GPUS: list };
}

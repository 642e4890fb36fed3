// Where there is a real NVIDIA GPU: a container with it sees it and computes on it, one without does not.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { tryGpus } from "./gpu-trial.ts";

test("a real GPU works in a container exactly when its devices are passed", async () => {
  // The words for machines without one are tested beside this.
  if (!existsSync("/dev/nvidia0")) return;
  const { given, listed, cuda, without } = await tryGpus();
  expect(given.files).toEqual(expect.arrayContaining(["/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"]));
  expect(listed).toMatch(/^GPU 0: .* \(UUID: GPU-/);
  expect(cuda).toBe("1 GPU, memory says 707070707070707\n");
  expect(without).not.toContain("memory says");
});

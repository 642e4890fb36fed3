// The arguments of ssh, as mpiexec passes them.
import { expect, test } from "vitest";
import { parseSshArguments } from "../src/mpi-launcher/ssh-arguments.ts";

test.each([
  [
    ["-x", "node-2", '"/usr/bin/hydra_pmi_proxy"', "--proxy-id", "1"],
    { host: "node-2", line: '"/usr/bin/hydra_pmi_proxy" --proxy-id 1' },
  ],
  [["-o", "StrictHostKeyChecking=no", "-q", "me@node-1", "true"], { host: "node-1", line: "true" }],
  [["--", "node-1", "-x"], { host: "node-1", line: "-x" }],
])("%j is host and command", (words, expected) => {
  expect(parseSshArguments(words)).toEqual(expected);
});

test.each([
  [["-x"], "no host is named"],
  [["node-1"], "no command is given"],
])("%j is refused", (words, expected) => {
  expect(() => parseSshArguments(words)).toThrow(expected);
});

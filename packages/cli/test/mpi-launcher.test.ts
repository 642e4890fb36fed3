// The words of ssh, as mpiexec writes them.
import { expect, test } from "vitest";
import { remoteCommand } from "../src/mpi-launcher/words.ts";

test.each([
  [
    ["-x", "node-2", '"/usr/bin/hydra_pmi_proxy"', "--proxy-id", "1"],
    { host: "node-2", line: '"/usr/bin/hydra_pmi_proxy" --proxy-id 1' },
  ],
  [["-o", "StrictHostKeyChecking=no", "-q", "me@node-1", "true"], { host: "node-1", line: "true" }],
  [["--", "node-1", "-x"], { host: "node-1", line: "-x" }],
  [["-x"], "no host is named"],
  [["node-1"], "no command is given"],
])("%j", (words, expected) => {
  expect(remoteCommand(words)).toEqual(expected);
});

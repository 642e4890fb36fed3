// The page on upgrades names the commands that the previous version does not know.

import { readFileSync } from "node:fs";
import { COMMAND_VERSIONS } from "@lattice/core";
import { expect, it } from "vitest";

it("the page on upgrades names every command that the previous version does not know, and no other", () => {
  const page = readFileSync(new URL("../../../docs/operating/upgrades.md", import.meta.url), "utf8");
  const named = [...page.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map((match) => match[1] ?? "");
  expect(named.toSorted()).toEqual(Object.keys(COMMAND_VERSIONS).toSorted());
});

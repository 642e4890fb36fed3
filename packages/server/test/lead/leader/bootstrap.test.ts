// The commands with which a leader completes the state from its configuration.

import { applyEntry, createState, instant, term } from "@lattice/core";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/base/config/index.ts";
import { missing } from "../../../src/lead/leader/bootstrap.ts";

test("the leader creates the key of job tokens once, where the cluster signs them", () => {
  const state = createState();
  const signing = { api: { oidc_issuer: "https://id.example.com", oidc_client_id: "lattice" } };
  const secrets = (signs: boolean) =>
    missing(state, loadConfig(null, signs ? signing : {})).filter(({ kind }) => kind === "secret.keep");
  expect(secrets(false)).toEqual([]);
  const [command] = secrets(true);
  if (command === undefined) throw new Error("none");
  expect(secrets(true)[0]).not.toEqual(command);
  const entry = { index: 1 as never, term: term(1), version: 1, at: instant(1), prevHash: "" };
  applyEntry(state, { ...entry, commands: [command] });
  expect(secrets(true)).toEqual([]);
});

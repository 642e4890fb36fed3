// The flags that say where the data and images of jobs may come from on this node, and with whose word.

import { type Command, InvalidArgumentError } from "commander";

export interface DataOptions {
  /** Where homes are mounted from for jobs that ask for the defaults, with placeholders; empty: they are on the node. */
  readonly homeSource: string;
  /** What nfs:// and s3:// sources of jobs may begin with, with placeholders. */
  readonly mountAllow: readonly string[];
  /** The object store of s3:// mounts; empty: Amazon's. */
  readonly s3Url: string;
  /** For an OCI registry that asks who reads; empty: nobody says. */
  readonly registryTokenFile: string;
}

export const withData = (command: Command): Command =>
  command
    .option(
      "--home-source <place>",
      "homes of jobs with default data: /shared/home/{user}, nfs://filer/home/{user}",
      "",
    )
    .option(
      "--mount-allow <prefix>",
      "jobs may mount from here: nfs://filer/projects, s3://datasets (repeatable; default: nothing)",
      allowed,
      [],
    )
    .option("--s3-url <url>", "object store of s3:// mounts", url, "")
    .option("--registry-token-file <file>", 'token, or "Basic ...", for an oci:// registry; read each time', "");

export const dataOptions = ({ homeSource, mountAllow, s3Url, registryTokenFile }: DataOptions): DataOptions => ({
  ...{ homeSource, mountAllow, s3Url, registryTokenFile },
});

function allowed(text: string, list: string[]): string[] {
  if (!/^(nfs|s3):\/\/[^/]/.test(text)) throw new InvalidArgumentError("must begin with nfs:// or s3:// and a name.");
  if (text.split("/").includes("..")) throw new InvalidArgumentError("must not contain ...");
  return [...list, text];
}

function url(text: string): string {
  if (!/^https?:\/\/[^\s,]+$/.test(text)) throw new InvalidArgumentError("must be an address: http(s)://host[:port].");
  return text;
}

// The flags for where data and images of jobs may come from on this node.

import { type Command, InvalidArgumentError } from "commander";

export interface DataOptions {
  /** Source of home folders for jobs with default data, with placeholders; empty when homes are on the node. */
  readonly homeSource: string;
  /** Allowed prefixes of nfs:// and s3:// sources, with placeholders. */
  readonly mountAllow: readonly string[];
  /** The object store of s3:// mounts; empty for Amazon's. */
  readonly s3Url: string;
  /** For an OCI registry that requires authentication; empty for anonymous access. */
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
  homeSource,
  mountAllow,
  s3Url,
  registryTokenFile,
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

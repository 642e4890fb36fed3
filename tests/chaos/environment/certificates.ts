// Certificates of the etcd members, made by `lattice admin pki`: members on several machines need them. They start a day
// ago, because clocks of servers jump back by up to an hour.
import { join } from "node:path";
import { runCli } from "../../harness/cli.ts";
import { createClock } from "./clock.ts";

export interface MemberFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const A_DAY_S = 86_400;

export async function makeMemberFiles(
  dir: string,
  hosts: readonly string[],
  library: string | null,
): Promise<MemberFiles> {
  const clock = createClock(`${dir}.clock`, library);
  clock.set(-A_DAY_S);
  const pki = async (...words: readonly string[]): Promise<void> => {
    const { code, stderr } = await runCli(["admin", "pki", ...words, "--dir", dir], { env: clock.environment });
    if (code !== 0) throw new Error(`lattice admin pki ${words.join(" ")}: ${stderr}`);
  };
  await pki("init", "--site", "chaos");
  await pki("issue", "member", "--kind", "server", ...["127.0.0.1", ...hosts].flatMap((host) => ["--host", host]));
  return { ca: join(dir, "ca.crt"), cert: join(dir, "member.crt"), key: join(dir, "member.key") };
}

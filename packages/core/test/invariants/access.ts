// Grants are found by their user, and the newest line of the audit log follows the one before it. The whole chain
// is not walked here: every line was the newest once, and made with its hash.

import { grantKey } from "../../src/model/access/grant.ts";
import type { View } from "../../src/state/view.ts";

export function brokenAccess(view: View): string[] {
  const lost = Array.from(view.grants()).filter(
    (grant) => !view.grantsOf(grant.user).some((one) => grantKey(one) === grantKey(grant)),
  );
  return [...lost.map((grant) => `the grant ${grantKey(grant)} is not found by its user`), ...brokenAudit(view)];
}

function brokenAudit(view: View): string[] {
  const lines = Array.from(view.audit());
  const last = lines.at(-1);
  if (last !== view.lastAudit()) return ["the last line of the audit log is another one"];
  if (last === undefined) return [];
  const broken: string[] = [];
  if ((lines.at(-2)?.hash ?? last.prev) !== last.prev) broken.push(`line ${last.n} of the audit log does not follow`);
  if (lines[0]?.n !== last.n - lines.length + 1) broken.push("the audit log has a gap");
  return broken;
}

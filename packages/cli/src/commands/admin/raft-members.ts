// The members of the cluster as a table: each server, and beside it its own member of etcd. What is not
// known, because somebody does not answer, shows as a dash.

import type { ClusterMember } from "@lattice/sdk";
import type { Printer } from "../../output/printer.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";

export function showMembers(print: Printer, members: readonly ClusterMember[]): void {
  const withEtcd = members.some(({ etcd }) => etcd !== undefined);
  const withCertificate = members.some(({ certificate }) => certificate !== undefined);
  print.table([...SERVER, ...(withCertificate ? CERTIFICATE : []), ...(withEtcd ? ETCD : [])], members);
}

export const megabytes = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const yesNo = (value: boolean | undefined): string => (value === true ? "yes" : "no");

const SERVER: readonly Column<ClusterMember>[] = [
  { header: "MEMBER", value: ({ id }) => id },
  { header: "ADDRESS", value: ({ address }) => address || ABSENT },
  { header: "LEADER", value: ({ leader }) => yesNo(leader) },
  { header: "HEALTHY", value: ({ healthy }) => yesNo(healthy) },
  { header: "APPLIED", value: ({ applied_index }) => applied_index ?? ABSENT, align: "right" },
  { header: "LAG", value: ({ lag }) => (lag === undefined ? ABSENT : String(lag)), align: "right" },
  { header: "VERSION", value: ({ server_version }) => server_version || ABSENT },
];

const CERTIFICATE: readonly Column<ClusterMember>[] = [
  { header: "CERTIFICATE", value: ({ certificate }) => certificate?.serial ?? ABSENT },
  {
    header: "UNTIL",
    value: ({ certificate }) => (certificate?.end === undefined ? ABSENT : localTime(certificate.end)),
  },
];

const ETCD: readonly Column<ClusterMember>[] = [
  { header: "ETCD", value: ({ etcd }) => (etcd === undefined ? ABSENT : etcd.name || "(not started)") },
  { header: "ETCD ID", value: ({ etcd }) => etcd?.id ?? ABSENT },
  { header: "ETCD LEADER", value: ({ etcd }) => (etcd === undefined ? ABSENT : yesNo(etcd.leader)) },
  { header: "ETCD HEALTHY", value: ({ etcd }) => (etcd === undefined ? ABSENT : yesNo(etcd.healthy)) },
  {
    header: "DB SIZE",
    value: ({ etcd }) => (etcd?.database_bytes ? megabytes(etcd.database_bytes) : ABSENT),
    align: "right",
  },
  { header: "RAFT TERM", value: ({ etcd }) => etcd?.raft_term || ABSENT, align: "right" },
  { header: "RAFT INDEX", value: ({ etcd }) => etcd?.raft_index || ABSENT, align: "right" },
];
